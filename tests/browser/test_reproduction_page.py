"""The page of ``tools/run.py reproduce --quick``, looked at in a browser."""

import json

import pytest

from reproduction.__main__ import main
from tests.browser.viewing import VIEWS, faults_of, viewed
from tests.data_dir import needs_data

pytestmark = [pytest.mark.browser, needs_data]


@pytest.fixture(scope="module")
def reproduction(tmp_path_factory):
    directory = tmp_path_factory.mktemp("reproduction")
    assert main(["--quick", "--out", str(directory)]) == 0
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
    experiments = [item for paper in results.values() for item in paper["experiments"].values()]
    tables = sum(bool(item["comparisons"]) + bool(item["checks"]) for item in experiments)
    with viewed(browser, reproduction / "reproduction.html", "light", "wide") as page:
        assert page.locator("section.experiment").count() == len(experiments)
        assert page.locator("figure svg").count() == figures > 10
        assert page.locator("table").count() == tables + 1


def test_nothing_is_missing(results):
    experiments = [item for paper in results.values() for item in paper["experiments"].values()]
    assert [item["missing"] for item in experiments if item["missing"]] == []
    assert [item["failure"] for item in experiments if item["failure"]] == []


def test_every_difference_is_explained(results):
    for name, paper in results.items():
        for title, item in paper["experiments"].items():
            for comparison in item["comparisons"]:
                if comparison["verdict"] == "differs":
                    assert comparison["why"], (name, title, comparison["labels"])
