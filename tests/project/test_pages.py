"""The Python on the pages of the site runs, each page from its first block to its last."""

import re
from pathlib import Path

import matplotlib
import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {
    str(path.relative_to(DOCS)): "\n".join(blocks)
    for path in sorted(DOCS.rglob("*.md"))
    if "_build" not in path.parts
    and (blocks := re.findall(r"^```python\n(.*?)^```", path.read_text("utf-8"), re.DOTALL | re.MULTILINE))
}


@pytest.mark.parametrize("page", PAGES)
def test_code_on_a_page_runs(page, tmp_path, monkeypatch):
    matplotlib.use("agg")
    monkeypatch.chdir(tmp_path)
    exec(compile(PAGES[page], page, "exec"), {"__name__": "__main__"})


def test_the_pages_that_teach_have_code():
    assert {"index.md", "getting_started.md"} <= PAGES.keys()
    assert all(f"howto/{path.name}" in PAGES for path in (DOCS / "howto").glob("*.md"))
