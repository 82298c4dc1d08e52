"""Pages seen through Chromium: where it is, how it is started, what is wrong with a page."""

import shutil
from contextlib import contextmanager
from itertools import product

__all__ = ["VIEWS", "faults_of", "opened_browser", "viewed"]

VIEWS = list(product(["light", "dark"], ["wide", "narrow"]))
_WIDTHS = {"wide": 1280, "narrow": 390}
_QUIET = ["--disable-gpu", "--disable-quic", "--disable-background-networking", "--disable-component-update"]

# Elements that stick out of the window without being inside something that scrolls, texts and figures of
# no size, and whatever asked for something from outside.
_FAULTS = """() => {
  const faults = [];
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    faults.push(`the page is ${document.documentElement.scrollWidth} wide in a window of ${width}`);
  for (const svg of document.querySelectorAll('figure svg')) {
    const box = svg.getBoundingClientRect();
    if (box.width < 200 || box.height < 100) faults.push(`a figure of ${box.width} x ${box.height}`);
    if (svg.querySelectorAll('path').length < 5) faults.push('a figure without curves');
  }
  for (const table of document.querySelectorAll('table')) {
    const columns = table.rows[0].cells.length;
    for (const row of table.rows)
      if (row.cells.length !== columns) faults.push(`a row of ${row.cells.length} cells, not ${columns}`);
  }
  for (const image of document.querySelectorAll('img'))
    if (!image.naturalWidth) faults.push(`an image that did not load: ${image.src}`);
  for (const entry of performance.getEntriesByType('resource'))
    if (!entry.name.startsWith('file:') && !entry.name.startsWith('data:'))
      faults.push(`loads ${entry.name}`);
  return faults;
}"""


@contextmanager
def opened_browser():
    """Debian's Chromium, driven by playwright."""
    from playwright.sync_api import sync_playwright

    where = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if where is None:
        raise FileNotFoundError("no Chromium is installed: apt-get install chromium")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=where, args=_QUIET, chromium_sandbox=False)
        yield browser
        browser.close()


@contextmanager
def viewed(browser, path, scheme, width):
    """The page in the file `path`, in a window of the given width and colour scheme."""
    size = {"width": _WIDTHS[width], "height": 900}
    page = browser.new_page(color_scheme=scheme, viewport=size)
    page.goto(path.resolve().as_uri(), timeout=120_000)  # a busy machine is slow to start
    yield page
    page.close()


def faults_of(page):
    """What is wrong with a page, as sentences."""
    return page.evaluate(_FAULTS)
