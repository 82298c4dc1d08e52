"""The playground, played with in a browser whose network ends at this machine."""

import io
import re
import shutil
import subprocess
import sys
import time
from contextlib import redirect_stdout
from pathlib import Path
from urllib.parse import urlsplit

import numpy as np
import pytest

from adatron import SVC
from adatron.play.algorithms import preset
from tests.browser.viewing import VIEWS
from tests.cli.processes import environment_with
from tests.play.direct import DIRECT, direct

pytestmark = [
    pytest.mark.browser,
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]

WIDTHS = {"wide": 1440, "narrow": 390}
INF = float("inf")
# Python that refuses to connect to anything but this machine, as the server runs
WITHOUT_NETWORK = """
import socket, sys
from adatron.cli import main

connect = socket.socket.connect
def only_here(self, address):
    assert isinstance(address, str) or address[0] in ("127.0.0.1", "localhost"), f"connects to {address}"
    return connect(self, address)
socket.socket.connect = only_here
socket.getaddrinfo = lambda *args, **options: sys.exit(f"looks up {args}")
main(["play", "--no-browser"])
"""


@pytest.fixture(scope="module")
def address():
    process = subprocess.Popen(
        [sys.executable, "-c", WITHOUT_NETWORK], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env=environment_with(PYTHONUNBUFFERED="1"),
    )  # fmt: skip
    yield process.stdout.readline().removeprefix("playground: ").strip()
    assert process.poll() is None, process.stderr.read()
    process.terminate()
    _, errors = process.communicate(timeout=30)
    assert errors == "adatron: interrupted\n"


@pytest.fixture
def visit(browser, address):
    """Open the playground; whatever goes wrong in the page, or asks for something elsewhere, is a failure."""
    contexts, faults = [], []

    def opened(fragment="", scheme="light", width="wide", *, may_be_refused=False, **options):
        context = browser.new_context(
            color_scheme=scheme, viewport={"width": WIDTHS[width], "height": 900}, **options
        )
        contexts.append(context)
        page = context.new_page()
        page.on("pageerror", lambda error: faults.append(f"error: {error}"))
        if not may_be_refused:  # which Chromium notes as an error
            page.on("console", lambda said: faults.append(said.text) if said.type == "error" else None)
        page.on("request", lambda sent: None if _is_here(sent.url, address) else faults.append(sent.url))
        context.route(lambda url: not _is_here(url, address), lambda route: route.abort())
        page.goto(f"{address}#{fragment}" if fragment else address, timeout=120_000)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert faults == []


def _is_here(url, address):
    return url.startswith(("data:", "blob:")) or urlsplit(url).netloc == urlsplit(address).netloc


def trained(page):
    """Wait until all fits and their playback have ended."""
    page.wait_for_selector("body[data-state=ended]", timeout=120_000)
    if page.locator("#step").is_enabled():
        page.locator("#position").evaluate("e => { e.value = e.max; e.dispatchEvent(new Event('input')); }")
    return page


def number(text):
    return float(text.replace("−", "-"))


def shown(page, place=0):
    """The numbers below a plane."""
    cells = page.locator(".numbers").nth(place).locator("dd")
    pairs = cells.evaluate_all("all => all.map((cell) => [cell.dataset.name, cell.textContent])")
    return {name: [number(part) for part in text.split(", ") if part != "–"] for name, text in pairs}


def points_of(page):
    return page.evaluate("playground.state.points")


def agrees(numbers, model, points):
    """Compare what stands on the page with a fitted model, as far as digits are written."""
    table = np.array(points)
    X, y = table[:, :2], table[:, 2].astype(int)
    model.fit(X, y)
    assert numbers["epoch"] == [max(model.history_["epoch"])]
    assert numbers["objective"] == pytest.approx([model.history_["objective"][-1]], rel=1e-5)
    assert numbers["margin"] == pytest.approx([model.history_["margin"][-1]], rel=1e-3)
    assert numbers["gap"] == pytest.approx([model.duality_gap_], rel=1e-2, abs=1e-20)
    assert numbers["bias"] == pytest.approx(model.intercept_.tolist(), rel=1e-3, abs=1e-20)
    assert numbers["support"] == [len(model.support_)]
    assert numbers["wrong"] == [np.count_nonzero(model.predict(X) != y)]


def click(page, x, y, place=0):
    """Click at a place of the plane, in its coordinates."""
    canvas = page.locator(".plane canvas").nth(place)
    side = canvas.evaluate("e => e.clientWidth")
    canvas.click(position={"x": (x + 1.2) / 2.4 * side, "y": (1.2 - y) / 2.4 * side})


@pytest.mark.parametrize("algorithm", DIRECT)
def test_numbers_on_screen_are_those_of_a_direct_fit(visit, algorithm):
    page = visit()
    page.select_option(".algorithm", algorithm)
    page.fill("input[id$=max_iter]", "100")
    page.keyboard.press("Enter")
    page.wait_for_selector("body[data-state=training], body[data-state=ended]")
    numbers = shown(trained(page))
    model = direct(algorithm, max_iter=100)
    agrees(numbers, model, preset("moons"))
    assert page.locator(".said").inner_text()[0] == ("✓" if model.converged_ else "!")


def test_points_are_placed_and_erased_by_the_mouse(visit):
    page = visit()
    page.click("#clear")
    for brush, places in enumerate([[(-0.6, -0.6), (-0.4, -0.5)], [(0.6, 0.6), (0.5, 0.2)], [(-0.6, 0.7)]]):
        page.check(f"input[name=brush][value='{brush}']")
        for place in places:
            click(page, *place)
    points = points_of(page)
    assert [c for *_, c in points] == [0, 0, 1, 1, 2]
    wanted = [(-0.6, -0.6), (-0.4, -0.5), (0.6, 0.6), (0.5, 0.2), (-0.6, 0.7)]
    assert np.allclose([point[:2] for point in points], wanted, atol=0.005)
    page.check("input[name=brush][value=erase]")
    click(page, -0.6, 0.7)
    assert points_of(page) == points[:-1]
    agrees(shown(trained(page)), SVC(10.0, gamma=4.0, solver="adatron", max_iter=300), points[:-1])


def test_undo(visit):
    page = visit("points=-500.0.0_500.0.1&a=auto")
    page.wait_for_selector("body[data-state=ended]")
    assert page.locator("#undo").is_disabled()
    first = points_of(page)
    click(page, 0.0, 0.5)
    page.click("#clear")
    page.click("#undo")
    assert len(points_of(page)) == 3
    page.keyboard.press("Control+z")
    assert points_of(page) == first
    assert page.locator("#undo").is_disabled()
    page.select_option("#preset", "xor")
    page.wait_for_selector("#points-said:has-text('160')")
    page.click("#undo")
    assert points_of(page) == first
    assert page.locator("#preset").input_value() == ""


def test_a_finger_places_a_point_by_a_tap(visit):
    page = visit("points=-500.0.0_500.0.1&a=auto", width="narrow", has_touch=True)
    page.locator(".plane canvas").tap(position={"x": 100, "y": 100})
    assert len(points_of(page)) == 3


def test_points_that_come_late_do_not_replace_others(visit):
    page = visit()
    trained(page)
    held = []
    page.route("**/presets/xor", lambda route: held.append(route))
    page.select_option("#preset", "xor")
    page.click("#clear")
    click(page, 0.0, 0.5)
    page.wait_for_timeout(200)
    held[0].continue_()
    page.wait_for_timeout(500)
    assert points_of(page) == [[pytest.approx(0.0, abs=0.005), pytest.approx(0.5, abs=0.005), 0]]


def test_dragging_paints_points(visit):
    page = visit("points=-500.0.0_500.0.1&a=auto")
    box = page.locator(".plane canvas").bounding_box()
    page.mouse.move(box["x"] + 50, box["y"] + 50)
    page.mouse.down()
    page.mouse.move(box["x"] + 250, box["y"] + 50, steps=20)
    page.mouse.up()
    assert len(points_of(page)) > 8


def test_everything_works_with_the_keyboard(visit):
    page = visit("points=-500.0.0_500.0.1&a=adatron")
    page.locator(".plane canvas").focus()
    for key in ["ArrowLeft"] * 5 + ["ArrowUp"] * 3 + ["2", "Enter"]:
        page.keyboard.press(key)
    assert points_of(page)[-1] == [-0.2, 0.12, 2]
    page.keyboard.press("Delete")
    assert len(points_of(page)) == 2
    page.keyboard.press("p")
    trained(page)
    page.keyboard.press(",")
    before = shown(page)["epoch"]
    page.keyboard.press(",")
    assert shown(page)["epoch"] == [before[0] - 1]
    page.keyboard.press(".")
    assert shown(page)["epoch"] == before


def test_play_pause_and_step(visit):
    page = visit()
    trained(page)
    page.click("#restart")
    assert shown(page)["epoch"] == [1]
    assert page.locator("#back").is_disabled()
    records = list(SVC(10.0, gamma=4.0, solver="adatron", max_iter=300).iter_fit(*_split(preset("moons"))))
    for record in records[1:4]:
        page.click("#step")
        assert shown(page)["epoch"] == [record.epoch]
        assert shown(page)["objective"] == pytest.approx([record.objective], rel=1e-5)
    page.click("#back")
    assert shown(page)["epoch"] == [3]
    page.click("#play")
    page.wait_for_selector("body[data-playing=true]")
    page.click("#play")
    page.wait_for_selector("body[data-playing=false]")
    paused = shown(page)["epoch"]
    time.sleep(0.3)
    assert shown(page)["epoch"] == paused
    page.click("#play")
    page.wait_for_selector("body[data-playing=false]", timeout=60_000)
    assert shown(page)["epoch"] == [records[-1].epoch]
    assert page.locator("#play").inner_text() == "↻ Again"


def test_who_wants_no_motion_gets_the_end_at_once(visit):
    page = visit(reduced_motion="reduce")
    page.wait_for_selector("body[data-state=ended]", timeout=120_000)
    agrees(shown(page), SVC(10.0, gamma=4.0, solver="adatron", max_iter=300), preset("moons"))
    page.click("#play")
    page.wait_for_selector("body[data-playing=true]")


def _split(points):
    table = np.array(points)
    return table[:, :2], table[:, 2].astype(int)


def test_two_algorithms_side_by_side(visit):
    page = visit()
    page.select_option("#comparison", "munk")
    page.wait_for_selector(".plane >> nth=1")
    trained(page)
    for place, solver in enumerate(["m3", "munk"]):
        model = SVC(10.0, gamma=4.0, solver=solver, fit_intercept=False, max_iter=300)
        agrees(shown(page, place), model, preset("moons"))
    assert page.locator(".plane h2").all_inner_texts() == ["A: M³", "B: MUNK"]
    page.select_option("#comparison", "overshoot")
    trained(page)
    assert "Diverged" in page.locator(".said").nth(1).inner_text()
    titles = page.locator(".plane h2").all_inner_texts()
    assert [title.partition(", ")[2] for title in titles] == ["η chosen automatically", "rate η = 1"]
    page.select_option("#comparison", "none")
    assert page.locator(".plane").count() == 1


@pytest.mark.parametrize("comparison", ["gradient", "bias", "perceptron", "ensemble", "own"])
def test_every_comparison_trains(visit, comparison):
    page = visit()
    page.select_option("#comparison", comparison)
    page.wait_for_selector(".plane >> nth=1")
    trained(page)
    for said in page.locator(".said").all_inner_texts():
        assert said.startswith(("✓ Converged", "! Stopped")), said


def test_a_link_reproduces_everything(visit):
    page = visit()
    page.select_option("#comparison", "gradient")
    page.fill("input[id$=gamma] >> nth=0", "7.5")
    page.check("#A-C-none")
    page.check("input[name=brush][value='1']")
    click(page, 0.9, -0.9)
    trained(page)
    link, points = page.url, points_of(page)
    before = [shown(page, place) for place in (0, 1)]
    assert len(points) == 121
    other = visit(link.partition("#")[2])
    trained(other)
    assert points_of(other) == points
    assert [shown(other, place) for place in (0, 1)] == before
    agrees(before[0], SVC(INF, gamma=7.5, solver="adatron", max_iter=300), points)
    other.reload()
    trained(other)
    assert [shown(other, place) for place in (0, 1)] == before


@pytest.mark.parametrize(
    "fragment",
    ["data=nothing&a=__proto__", "a=adatron&a.C=1e99&a.gamma=x", "points=9999.0.0_1.1.7_.._x&a=auto", "%%%"],
)
def test_links_that_make_no_sense_still_open(visit, fragment):
    page = visit(fragment)
    page.wait_for_selector("body[data-state=ended]")
    assert page.locator(".plane").count() == 1


@pytest.mark.parametrize("algorithm", ["adatron", "perceptron", "ensemble"])
def test_shown_code_gives_the_numbers_on_screen(visit, algorithm):
    page = visit(f"data=blobs&a={algorithm}&a.gamma=2&a.max_iter=50")
    numbers = shown(trained(page))
    page.click(".show-code")
    assert page.locator("#code").is_visible()
    known, printed = {}, io.StringIO()
    with redirect_stdout(printed):
        exec(page.locator("#code-text").inner_text(), known)
    model = known["model"]
    assert numbers["bias"] == pytest.approx(model.intercept_.tolist(), rel=1e-3, abs=1e-20)
    assert numbers["gap"] == pytest.approx([model.duality_gap_], rel=1e-2)
    assert numbers["support"] == [len(model.support_)]
    page.keyboard.press("Escape")
    assert not page.locator("#code").is_visible()


def test_code_and_link_are_copied(visit):
    page = visit(permissions=["clipboard-read", "clipboard-write"])
    trained(page)
    page.click("#copy-link")
    page.wait_for_selector("#copy-link:has-text('Copied')")
    assert page.evaluate("navigator.clipboard.readText()") == page.url
    page.click(".show-code")
    page.click("#copy-code")
    page.wait_for_selector("#copy-code:has-text('Copied')")
    assert "from adatron import SVC" in page.evaluate("navigator.clipboard.readText()")


def csv(text, name="own.csv"):
    return {"name": name, "mimeType": "text/csv", "buffer": text.encode()}


def test_own_table(visit):
    page = visit()
    rows = [(x, 10 * x * x, "far" if x > 4 else "near") for x in range(10)]
    text = "width;height;class\n" + "\n".join(f"{x},5;{y};{c}" for x, y, c in rows)
    page.set_input_files("#csv", csv(text))
    page.wait_for_selector("#points-said:has-text('own.csv')")
    points = points_of(page)
    assert [c for *_, c in points] == [int(c == "near") for *_, c in rows]
    assert (points[0][:2], points[-1][:2]) == ([-1, -1], [1, 1])
    assert "● far, ▲ near" in page.locator("#points-said").inner_text()
    agrees(shown(trained(page)), SVC(10.0, gamma=4.0, solver="adatron", max_iter=300), points)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("1,2,a\n3,NaN,b", "Row 2"),
        ("1,2,a\n3,1e999,b", "Row 2"),
        ("1,2\n3,4", "Row 1 has 2 columns"),
        ("1,2,a\n3,4,a", "1 different values"),
        ("hello", "no columns"),
        ("", "no columns"),
        ("1,2,a\n" * 100_000, "100,000 rows"),
        ("1,2,a\n" * 1_000_000, "larger than 1 MB"),
    ],
)
def test_tables_that_are_refused(visit, text, said):
    page = visit("data=xor&a=auto")
    page.wait_for_selector("body[data-state=ended]")
    page.set_input_files("#csv", csv(text))
    page.wait_for_selector(f"#points-said:has-text('{said}')")
    assert points_of(page) == preset("xor")


def test_what_cannot_be_trained_is_told(visit):
    page = visit("data=moons&a=munk&a.kernel=linear")
    page.wait_for_selector(".said.bad")
    assert "munk" in page.locator(".said").inner_text()
    page.click("#clear")
    page.wait_for_selector(".said:has-text('two classes at least')")
    click(page, 0.0, 0.0)
    assert page.locator(".numbers dd").all_inner_texts()[0] == "–"


def test_the_server_refuses_and_the_page_says_why(visit):
    """The page itself lets nobody place so many points; a patched one is refused by the server."""
    page = visit("data=moons&a=auto", may_be_refused=True)
    page.wait_for_selector("body[data-state=ended]")
    refused = page.evaluate(
        """async () => {
          const points = Array.from({ length: 100000 }, (_, i) => [0, 0, i % 2]);
          const body = JSON.stringify({ algorithm: 'auto', kernel: 'rbf', parameters: {}, points });
          const headers = { 'Content-Type': 'application/json' };
          const answer = await fetch('fit', { method: 'POST', headers, body });
          return [answer.status, (await answer.json()).error];
        }"""
    )
    assert refused[0] == 413
    assert "1,000 points" in refused[1]


def test_another_page_cannot_ask(browser, address):
    """A page of another origin, here one without any, gets no answer that it could read."""
    page = browser.new_page()
    page.goto("about:blank")
    asked = f"fetch('{address}choices').then((r) => r.text(), (error) => 'refused: ' + error)"
    assert page.evaluate(asked).startswith("refused")
    page.close()


def test_400_points_at_20_frames_a_second(visit):
    page = visit("data=overlap&a=m3&a.gamma=4&a.max_iter=500")
    page.wait_for_selector("body[data-state=ended]", timeout=120_000)
    page.click("#restart")
    page.click("#play")
    rates = []
    for _ in range(3):  # the machine may have other work for a while
        first = page.evaluate("[playground.player.shown, performance.now()]")
        time.sleep(3.0)
        last = page.evaluate("[playground.player.shown, performance.now()]")
        rates.append((last[0] - first[0]) / (last[1] - first[1]) * 1000)
    assert len(points_of(page)) == 400
    assert max(rates) >= 19.0, rates  # of 20 that are asked for


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_layout(visit, screenshots, scheme, width):
    page = visit("data=moons&a=adatron&b=multiplicative", scheme, width)
    trained(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= WIDTHS[width]
    boxes = page.locator("canvas:visible").evaluate_all(
        "all => all.map((e) => [e.clientWidth, e.clientHeight])"
    )
    assert len(boxes) >= 8
    plane, algorithms = (page.locator(name).first.bounding_box() for name in (".plane", "#algorithms"))
    if width == "narrow":  # a small screen shows the plane first
        assert plane["y"] < algorithms["y"]
    else:
        assert algorithms["x"] + algorithms["width"] <= plane["x"]
    page.screenshot(path=screenshots / f"playground-{scheme}-{width}.png")


@pytest.mark.parametrize(
    ("points", "colours_of_classes"),
    [
        ("-500.0.0_500.0.1", ("0,114,178", "213,94,0")),
        ("-500.0.0_500.0.2", ("0,114,178", "0,158,115")),
        ("-500.0.2_500.0.1", ("0,158,115", "213,94,0")),
        ("-500.0.0_500.0.1_0.700.2", ("0,114,178", "213,94,0", "0,158,115")),
    ],
)
def test_the_plane_is_painted(visit, points, colours_of_classes):
    """The colours of the classes, theirs on each side, and the ink of the boundary are on the canvas."""
    page = visit(f"points={points}&a=auto&a.gamma=1")
    trained(page)
    for place, colour in zip(points.split("_"), colours_of_classes, strict=True):
        x, y = (int(part) / 1000 for part in place.split(".")[:2])
        near = page.locator(".plane canvas").evaluate(
            """(canvas, [x, y]) => {
              const at = (v) => Math.round(((v + 1.2) / 2.4) * canvas.width);
              return [...canvas.getContext('2d').getImageData(at(x), at(-y) + 30, 1, 1).data].slice(0, 3);
            }""",
            [x, y],
        )
        tints = {c: _distance_of_tint(near, [int(part) for part in c.split(",")]) for c in colours_of_classes}
        assert min(tints, key=tints.get) == colour, near
    colours = page.locator(".plane canvas").evaluate(
        """(canvas) => {
          const { data } = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height);
          const seen = {};
          for (let i = 0; i < data.length; i += 4) {
            const key = `${data[i]},${data[i + 1]},${data[i + 2]}`;
            seen[key] = (seen[key] || 0) + 1;
          }
          return seen;
        }"""
    )
    for colour in (*colours_of_classes, "31,35,40"):
        assert colours.get(colour, 0) > 40, colour


def _distance_of_tint(seen, colour):
    """How far a pixel is from the line between white and a colour, as a cosine."""
    one, other = 255.0 - np.array(seen), 255.0 - np.array(colour)
    return 1.0 - one @ other / (np.linalg.norm(one) * np.linalg.norm(other))


@pytest.fixture(scope="session")
def axe(tmp_path_factory):
    """The rules of axe-core, from npm."""
    if shutil.which("npm") is None:
        pytest.skip("npm, which brings axe-core, is not installed")
    place = tmp_path_factory.mktemp("axe")
    command = ["npm", "install", "--no-save", "--prefix", str(place), "axe-core@4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    if done.returncode:
        pytest.skip(f"npm could not bring axe-core: {done.stderr[-200:]}")
    return Path(place, "node_modules/axe-core/axe.min.js").read_text()


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_accessible(visit, axe, scheme, width):
    page = visit("data=lines&a=perceptron&a.kernel=linear&b=adatron&b.kernel=linear&b.C=none", scheme, width)
    trained(page)
    page.evaluate(axe)
    for is_code_shown in (False, True):
        if is_code_shown:
            page.locator(".show-code").first.click()
        found = page.evaluate("axe.run()")
        wrong = [f"{v['id']}: {v['nodes'][0]['html'][:120]}" for v in found["violations"]]
        assert wrong == []
        assert len(found["passes"]) > 15


def test_every_control_has_a_name_and_is_reached_by_tab(visit):
    page = visit("data=moons&a=adatron")
    trained(page)
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(page.evaluate("document.activeElement.id || document.activeElement.className"))
    for name in ("preset", "clear", "comparison", "algorithm", "kernel", "play", "speed", "copy-link"):
        assert name in reached
    assert any(re.search("gamma", name) for name in reached)
