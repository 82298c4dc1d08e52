"""Every page of the site that ``python3 tools/run.py docs`` builds, looked at in a browser."""

from pathlib import Path

import pytest

from tests.browser.viewing import VIEWS, faults_of, viewed

SITE = Path(__file__).parents[2] / "docs" / "_build" / "html"
PAGES = sorted(path for path in SITE.rglob("*.html") if not {"_static", "_modules"} & set(path.parts))
SHOWN = {"index.html", "choosing.html", "speed.html", "reproduction.html", "gallery/plot_margin_epochs.html"}

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(not PAGES, reason="there is no site; python3 tools/run.py docs builds it"),
]


def name_of(path):
    return path.relative_to(SITE).as_posix()


def views_of(path):
    """All of a page that somebody wrote; pages of the API are alike."""
    return [("dark", "narrow")] if "generated" in path.parts else VIEWS


CASES = [(path, *view) for path in PAGES for view in views_of(path)]


@pytest.mark.parametrize(
    ("path", "scheme", "width"), CASES, ids=lambda v: v if isinstance(v, str) else name_of(v)
)
def test_page_renders(browser, screenshots, path, scheme, width):
    with viewed(browser, path, scheme, width) as page:
        assert faults_of(page) == []
        if name_of(path) in SHOWN:
            name = name_of(path).removesuffix(".html").replace("/", "-")
            page.screenshot(path=screenshots / f"site-{name}-{scheme}-{width}.png")


def test_search_works_from_the_disk(browser):
    with viewed(browser, SITE / "search.html", "light", "wide") as page:
        page.goto((SITE / "search.html").as_uri() + "?q=duality+gap")
        page.wait_for_selector("#search-results li")
        assert page.locator("#search-results li").count() > 3
