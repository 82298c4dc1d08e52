"""The page of ``adatron reproduce --quick``, looked at in a browser."""

import json

import pytest
from click.testing import CliRunner

from adatron.cli.app import app
from tests.browser.viewing import VIEWS, faults_of, viewed
from tests.data_dir import needs_data

pytestmark = [pytest.mark.browser, needs_data]


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    directory = tmp_path_factory.mktemp("reproduction")
    done = CliRunner().invoke(app, ["reproduce", "--quick", "--out", str(directory)])
    assert done.exit_code == 0, done.output
    return directory


@pytest.fixture(scope="module")
def results(reproduction):
    return json.loads((reproduction / "reproduction.json").read_text())


@pytest.mark.parametrize(("scheme", "width"), VIEWS)
def test_page_renders(browser, reproduction, screenshots, scheme, width):
    with viewed(browser, reproduction / "reproduction.html", scheme, width) as page:
        assert faults_of(page) == []
        page.screenshot(path=screenshots / f"reproduction-{scheme}-{width}.png")


def test_every_figure_and_table_is_there(browser, reproduction, results):
    figures = len(list((reproduction / "reproduction-figures").glob("*.svg")))
    experiments = [item for document in results.values() for item in document["experiments"].values()]
    tables = sum(bool(item["comparisons"]) + bool(item["checks"]) for item in experiments)
    with viewed(browser, reproduction / "reproduction.html", "light", "wide") as page:
        assert page.locator("section.experiment").count() == len(experiments)
        assert page.locator("figure svg").count() == figures > 10
        assert page.locator("table").count() == tables + 1


def test_nothing_is_missing(results):
    experiments = [item for document in results.values() for item in document["experiments"].values()]
    assert [item["missing"] for item in experiments if item["missing"]] == []
    assert [item["failure"] for item in experiments if item["failure"]] == []


def test_every_difference_is_explained(results):
    for name, document in results.items():
        for title, item in document["experiments"].items():
            for comparison in item["comparisons"]:
                if comparison["verdict"] == "differs":
                    assert comparison["why"], (name, title, comparison["labels"])
