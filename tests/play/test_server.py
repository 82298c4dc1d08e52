"""The server of the playground: what it serves, and all that it refuses."""

import http.client
import json
import re
import socket
from threading import Thread

import pytest

from adatron.play import PlayServer
from adatron.play.algorithms import preset

POINTS = [[-0.5, 0.0, 0], [0.5, 0.1, 1], [-0.4, 0.2, 0], [0.6, -0.2, 1]]
ASKED = {"algorithm": "adatron", "kernel": "rbf", "parameters": {"max_iter": 20}, "points": POINTS}
TRICKS = [
    "..",
    "../",
    "../../../../etc/passwd",
    "%2e%2e/%2e%2e/etc/passwd",
    "..%2f..%2fetc%2fpasswd",
    "page/../server.py",
    "server.py",
    "__init__.py",
    "/etc/passwd",
    "//etc/passwd",
    "app.js/",
    "app.js%00",
    "app.js?x=1",
    "style.css/../app.js",
    "\\..\\server.py",
    "presets/../choices",
    "presets/nothing",
    "presets/",
    "INDEX.HTML",
    "fit",
]


@pytest.fixture(scope="module")
def server():
    with PlayServer() as running:
        thread = Thread(target=running.serve_forever, daemon=True)
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def ask(server, method, path, body=None, **headers):
    """Status, headers and body of an answer; `path` is the part behind the token, unless it begins with /."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    path = path if path.startswith("/") else f"/{server.token}/{path}"
    sent = {"Host": server.hosts[0], "Content-Type": "application/json"} if body is not None else {}
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, body, sent | headers)
    answer = connection.getresponse()
    content = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), content


def refusal(server, *args, **headers):
    """Status and reason of a refusal, which is always JSON, and after which the server goes on."""
    status, sent, content = ask(server, *args, **headers)
    assert status >= 400
    assert sent["Content-Type"].startswith("application/json")
    assert ask(server, "GET", "choices")[0] == 200
    return status, json.loads(content)["error"]


def fit(server, asked, **headers):
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    return ask(server, "POST", "fit", body, **headers)


def refused_fit(server, asked, **headers):
    body = asked if isinstance(asked, bytes) else json.dumps(asked).encode()
    return refusal(server, "POST", "fit", body, **headers)


def test_it_listens_on_the_loopback_interface_alone(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}/{server.token}/"
    assert len(server.token) >= 24


def test_tokens_differ():
    with PlayServer() as one, PlayServer() as two:
        assert one.token != two.token


@pytest.mark.parametrize(
    ("name", "kind"), [("", "text/html"), ("style.css", "text/css"), ("app.js", "text/javascript")]
)
def test_files(server, name, kind):
    status, headers, content = ask(server, "GET", name)
    assert (status, headers["Content-Type"]) == (200, f"{kind}; charset=utf-8")
    assert len(content) == int(headers["Content-Length"]) > 1000
    assert headers["Content-Security-Policy"].startswith("default-src 'self'")
    assert "Python" not in headers["Server"]


def test_every_script_that_a_script_imports_is_served(server):
    waiting, seen = ["app.js"], set()
    while waiting:
        name = waiting.pop()
        status, _, content = ask(server, "GET", name)
        assert status == 200, name
        seen.add(name)
        waiting += set(re.findall(r'from "\./([\w.]+)"', content.decode())) - seen
    assert len(seen) >= 5


def test_no_file_of_the_page_names_another_host(server):
    for name in ("", "style.css", "app.js", "charts.js", "controls.js", "fit.js", "plane.js", "player.js"):
        assert re.findall(rb"\w+://|[\"'(]//", ask(server, "GET", name)[2]) == []


def test_presets(server):
    assert json.loads(ask(server, "GET", "presets/moons")[2]) == preset("moons")


def test_fit_streams_lines(server):
    status, headers, content = fit(server, ASKED)
    lines = [json.loads(line) for line in content.splitlines()]
    assert (status, headers["Content-Type"]) == (200, "application/x-ndjson; charset=utf-8")
    assert "model = SVC(" in lines[0]["code"]
    assert [frame["epoch"] for frame in lines[1:-1]] == list(range(1, len(lines) - 1))
    assert lines[-1]["status"] in ("converged", "max_iter")


def test_what_the_library_refuses_is_told(server):
    asked = ASKED | {"algorithm": "munk", "kernel": "linear"}
    *_, last = (json.loads(line) for line in fit(server, asked)[2].splitlines())
    assert "munk" in last["error"]


def test_a_fit_that_cannot_be_is_told(server):
    points = [[0.0, 0.0, 0], [0.0, 0.0, 1]]
    asked = ASKED | {"algorithm": "auto", "parameters": {"C": None}, "points": points}
    *_, last = (json.loads(line) for line in fit(server, asked)[2].splitlines())
    assert "not separable" in last["error"]


@pytest.mark.parametrize(
    "path", ["/", "/wrong/", "/wrong/choices", "//", "/favicon.ico", "/%2e%2e/", "/%C3%A9/"]
)
def test_wrong_token(server, path):
    status, reason = refusal(server, "GET", path)
    assert (status, "token" in reason) == (403, True)


def test_wrong_token_cannot_fit(server):
    assert refusal(server, "POST", "/wrong/fit", json.dumps(ASKED))[0] == 403


@pytest.mark.parametrize("path", TRICKS)
def test_path_tricks(server, path):
    status, reason = refusal(server, "GET", f"/{server.token}/{path}")
    assert (status, reason) == (404, "there is no such page")


def test_address_without_its_slash(server):
    assert refusal(server, "GET", f"/{server.token}")[0] == 404


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_foreign_origin(server, origin):
    assert refused_fit(server, ASKED, Origin=origin) == (403, "requests from other pages are refused")
    assert refusal(server, "GET", "choices", Origin=origin)[0] == 403


def test_own_origin(server):
    assert server.hosts
    for host in server.hosts:
        assert fit(server, ASKED, Origin=f"http://{host}", Host=host)[0] == 200


@pytest.mark.parametrize("host", ["evil.example", "evil.example:80", "127.0.0.1", "[::1]:80", ""])
def test_foreign_host(server, host):
    """A name of somebody else that leads to this machine is no way in."""
    assert refusal(server, "GET", "choices", Host=host)[0] == 403


def test_hundred_thousand_points(server):
    status, reason = refused_fit(server, ASKED | {"points": [[0.1, 0.2, 0]] * 100_000})
    assert (status, "at most 1,000 points" in reason) == (413, True)


def test_few_bytes_of_many_points(server):
    status, reason = refused_fit(server, ASKED | {"points": [[0, 0, 0]] * 1_001})
    assert (status, reason) == (400, "points must be a list of 2 to 1,000 points, got 1,001")


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e999", "1e300", "2", "true", '"0"', "[0]", "null"]
)
def test_coordinates_that_are_none(server, text):
    body = json.dumps(ASKED | {"points": "POINTS"}).replace('"POINTS"', f"[[0, 0, 0], [{text}, 0, 1]]")
    status, reason = refused_fit(server, body.encode())
    assert status == 400
    assert "point 1" in reason or "finite" in reason


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"points": []}, "2 to 1,000 points, got 0"),
        ({"points": "all"}, "got str"),
        ({"points": [[0, 0, 0], [0, 0]]}, "point 1"),
        ({"points": [[0, 0, 0], [1, 0, 3]]}, "class of point 1 must be 0, 1 or 2, got 3"),
        ({"points": [[0, 0, 0], [1, 0, True]]}, "class of point 1"),
        ({"points": [[0, 0, 0], [1, 0, 0]]}, "two classes at least"),
        ({"algorithm": "SVC"}, "algorithm must be one of perceptron, adatron"),
        ({"algorithm": ["auto"]}, "algorithm must be one of"),
        ({"kernel": "precomputed"}, "kernel must be one of rbf"),
        ({"kernel": "__class__"}, "kernel must be one of rbf"),
        ({"parameters": None}, "parameters must be an object"),
        ({"parameters": {"C": -1}}, "C must be a number from 0.01 to 1000, got -1"),
        ({"parameters": {"C": "1"}}, "C must be a number"),
        ({"parameters": {"gamma": 1e9}}, "gamma must be a number"),
        ({"parameters": {"max_iter": 10**9}}, "max_iter must be a whole number from 1 to 2000"),
        ({"parameters": {"max_iter": 1.5}}, "max_iter must be a whole number"),
        ({"parameters": {"fit_intercept": 1}}, "fit_intercept must be true or false, got 1"),
    ],
)
def test_requests_that_make_no_sense(server, change, said):
    status, reason = refused_fit(server, ASKED | change)
    assert status == 400
    assert said in reason


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"\xff\xfe", b"[" * 90_000, b'"text"', b"1" * 6_000])
def test_bodies_that_are_no_request(server, body):
    assert refused_fit(server, body)[0] == 400


def test_a_form_of_another_page_is_refused(server):
    """Browsers send these without asking, but not with this type."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data"):
        assert refused_fit(server, ASKED, Content_Type=kind)[0] == 415


@pytest.mark.parametrize("length", ["-1", "x", "", "1" * 5_000])
def test_lengths_that_are_none(server, length):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=60) as connection:
        head = [f"POST /{server.token}/fit HTTP/1.1", f"Host: {server.hosts[0]}"]
        head += ["Content-Type: application/json", f"Content-Length: {length}", "", ""]
        connection.sendall("\r\n".join(head).encode())
        connection.shutdown(socket.SHUT_WR)
        answer = connection.makefile("rb").read()
    assert answer.split()[1] in (b"411", b"413")
    assert b'{"error"' in answer


@pytest.mark.parametrize("method", ["HEAD", "PUT", "DELETE", "OPTIONS", "TRACE"])
def test_other_methods(server, method):
    assert ask(server, method, "")[0] == 501
    assert ask(server, "GET", "choices")[0] == 200


def test_unused_parameters_are_no_error(server):
    asked = ASKED | {"parameters": ASKED["parameters"] | {"eps": 0.01, "degree": 2}, "more": 1}
    assert fit(server, asked)[0] == 200


def test_a_fault_of_our_own_is_told(server, monkeypatch):
    def broken(request):
        yield {"classes": [0, 1]}
        raise KeyError("oh")

    monkeypatch.setattr("adatron.play.server.frames", broken)
    *_, last = (json.loads(line) for line in fit(server, ASKED)[2].splitlines())
    assert last == {"error": "internal error, please report it: KeyError: 'oh'"}


def test_long_values_are_not_sent_back(server):
    status, reason = refused_fit(server, ASKED | {"kernel": "x" * 50_000})
    assert (status, len(reason) < 200) == (400, True)


def test_a_page_that_goes_away_frees_its_fit(server):
    asked = ASKED | {"algorithm": "m3", "points": preset("overlap"), "parameters": {"max_iter": 2000}}
    body = json.dumps(asked).encode()
    for _ in range(6):  # more than may be under way at once
        connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
        connection.request("POST", f"/{server.token}/fit", body, {"Content-Type": "application/json"})
        with connection.getresponse() as answer:
            assert b"classes" in answer.readline()
        connection.close()
    assert fit(server, ASKED)[0] == 200
