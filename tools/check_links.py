"""Checks that every link within a built site leads somewhere, and that no page needs the network to be shown.

python tools/check_links.py docs/_build/html
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

LINKS = {"a": "href", "link": "href", "img": "src", "script": "src", "source": "src", "video": "src"}
SHOWN = {"img", "script", "source", "video"}  # what a browser loads by itself; so it does style sheets


class Page(HTMLParser):
    """Names and links of one page."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.names: set[str] = {""}
        self.links: list[tuple[str, bool]] = []  # address, whether it is needed to show the page
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.names.update(value for key in ("id", "name") if (value := given.get(key)))
        if (address := given.get(LINKS.get(tag, ""))) is not None:
            needed = tag in SHOWN or (tag == "link" and "stylesheet" in (given.get("rel") or ""))
            self.links.append((address, needed))


def faults_of(site: Path) -> list[str]:
    """One line for every link that leads nowhere."""
    paths = (
        path for path in sorted(site.rglob("*.html")) if "_static" not in path.parts
    )  # theme's templates
    pages = {path.resolve(): Page(path) for path in paths}
    found = []
    for path, page in pages.items():
        for address, needed in page.links:
            if (fault := _fault(site.resolve(), pages, path, address, needed)) is not None:
                found.append(f"{path.relative_to(site.resolve())}: {address}: {fault}")
    return found


def _fault(site: Path, pages: dict[Path, Page], path: Path, address: str, needed: bool) -> str | None:
    parts = urlsplit(address)
    if parts.scheme or parts.netloc:
        return "is loaded from the network" if needed and parts.scheme != "data" else None
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if not target.is_relative_to(site):
        return "leaves the site"
    target = target / "index.html" if target.is_dir() else target
    if not target.exists():
        return "there is no such file"
    if target in pages and unquote(parts.fragment) not in pages[target].names:
        return "there is no such place on the page"
    return None


def main() -> None:
    site = Path(sys.argv[1])
    found = faults_of(site)
    if found or not (site / "index.html").exists():
        sys.exit("\n".join([*found, f"{len(found)} links of {site} lead nowhere"]))


if __name__ == "__main__":
    main()
