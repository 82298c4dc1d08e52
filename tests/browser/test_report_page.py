"""The pages of ``adatron fit`` and ``adatron compare``, looked at in a browser."""

import json
import re

import pytest
from click.testing import CliRunner

from adatron.cli.app import app
from tests.browser.viewing import VIEWS, faults_of, viewed
from tests.cli.tables import checkerboard, letters, surface
from tests.data_dir import data_dir, needs_data

pytestmark = pytest.mark.browser

BUNDLED = ["sonar", "breast_cancer_wisconsin", "ionosphere", "pima"]
SHOWN = "ionosphere"  # the report that the docs show
MADE = {
    "regression": (surface, []),
    "svr": (surface, ["--epsilon", "0.05"]),
    "svc": (checkerboard, ["-C", "10", "--solver", "adatron"]),
    "ensemble": (checkerboard, ["--model", "ensemble"]),
    "oneclass": (checkerboard, ["--model", "oneclass", "--nu", "0.1", "--target", "class"]),
    "cluster": (checkerboard, ["--model", "cluster", "--target", "class"]),
    "letters": (lambda path: letters(path, n=200, n_classes=12), []),
}
FILES = {
    "svmguide1": ("libsvm/svmguide1.xz", []),
    "a1a": ("libsvm/a1a.xz", []),
    "cal_housing": ("regression/cal_housing.csv.xz", ["--time-limit", "5"]),
}


def run(*args):
    done = CliRunner().invoke(app, [str(arg) for arg in args])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    """The report of a fit, by the name of the data or of the kind of model; each is made once."""
    made = {}

    def report_of(name):
        if name not in made:
            directory = tmp_path_factory.mktemp(name)
            made[name] = directory / "report.html"
            files = ["-o", directory / "model", "--report", made[name]]
            run("fit", *_arguments(name, directory), *files)
        return made[name]

    return report_of


def _arguments(name, directory):
    if name in FILES:
        path, options = FILES[name]
        return [data_dir() / path, *options]
    if name in MADE:
        make, options = MADE[name]
        return [make(directory / f"{name}.csv"), *options]
    return [name]


def expected_figures(page):
    """Captions of the figures that a report must have, by what it says the model is."""
    model = page.locator("dd").nth([*page.locator("dt").all_inner_texts()].index("estimator")).inner_text()
    search = ["How well each width"]
    wanted = {
        "SVC": ["ROC curve", "Margins", "Objective"],
        "AutoSVC": ["Margins", "Calibration", *search],
        "EnsembleSVC": ["ROC curve", "Margins"],
        "SVR": ["Predicted against true", "Objective"],
        "AutoSVR": ["Predicted against true", *search],
        "OneClassSVM": ["Outliers lie left"],
        "SupportVectorClustering": [],
    }
    return wanted[model]


CASES = [*BUNDLED, *MADE, *(pytest.param(name, marks=needs_data) for name in FILES)]


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
@pytest.mark.parametrize("name", CASES)
def test_report_renders(browser, report, screenshots, name, scheme, width):
    with viewed(browser, report(name), scheme, width) as page:
        assert faults_of(page) == []
        captions = page.locator("figcaption").all_inner_texts()
        assert all(any(text.startswith(start) for text in captions) for start in expected_figures(page))
        assert page.locator("h2").all_inner_texts()[:3] == ["Data", "Result", "Model"]
        file = f"report-{scheme}-{width}.png" if name == SHOWN else f"report-{name}-{scheme}-{width}.png"
        page.screenshot(path=screenshots / file, full_page=name != SHOWN)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_ink_can_be_read(browser, report, scheme):
    """Text of the page and of its figures stands out from the background."""
    with viewed(browser, report(SHOWN), scheme, "wide") as page:
        colours = page.evaluate("""() => {
          const colour = (element, name) => getComputedStyle(element)[name];
          return [colour(document.body, 'backgroundColor'),
                  colour(document.querySelector('p'), 'color'),
                  colour(document.querySelector('figure svg text'), 'fill')];
        }""")
        background, *inks = (_luminance(colour) for colour in colours)
        for ink in inks:
            light, dark = max(background, ink), min(background, ink)
            assert (light + 0.05) / (dark + 0.05) > 7.0  # WCAG's better level
    assert len(set(colours)) > 1


def _luminance(colour):
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


@pytest.fixture(scope="module")
def comparison(tmp_path_factory):
    path = tmp_path_factory.mktemp("comparison") / "comparison.html"
    return path, json.loads(run("compare", "ionosphere", "--folds", "3", "--report", path, "--json"))


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_comparison_renders(browser, comparison, screenshots, scheme, width):
    path, found = comparison
    with viewed(browser, path, scheme, width) as page:
        assert faults_of(page) == []
        assert page.locator("tbody tr").count() == len(found["models"]) == 8
        texts = page.locator("figure svg text").all_text_contents()
        assert any("grid search" in text for text in texts)
        page.screenshot(path=screenshots / f"comparison-{scheme}-{width}.png", full_page=True)
