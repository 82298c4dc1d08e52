"""Fixtures of the browser tests: one Chromium for all, and where screenshots go."""

from pathlib import Path

import pytest

from tests.browser.viewing import opened_browser


def pytest_addoption(parser):
    parser.addoption("--screenshots", type=Path, help="directory for the screenshots that the docs show")


@pytest.fixture(scope="session")
def browser():
    with opened_browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def screenshots(request, tmp_path_factory):
    directory = request.config.getoption("--screenshots") or tmp_path_factory.mktemp("screenshots")
    directory.mkdir(parents=True, exist_ok=True)
    return directory
