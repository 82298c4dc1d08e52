"""The check of links within the site, on small sites with one fault each."""

import importlib.util
from pathlib import Path

import pytest

_PATH = Path(__file__).parents[2] / "tools" / "check_links.py"


@pytest.fixture(scope="module")
def faults_of():
    spec = importlib.util.spec_from_file_location("check_links", _PATH)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.faults_of


def site(directory, body):
    (directory / "sub").mkdir()
    (directory / "index.html").write_text(f'<h1 id="top">Title</h1>{body}')
    (directory / "sub" / "page.html").write_text('<a href="../index.html#top">up</a>')
    (directory / "picture.png").touch()
    return directory


@pytest.mark.parametrize(
    "body",
    [
        '<a href="sub/page.html">page</a><a href="#top">top</a><a href="#">top</a><img src="picture.png">',
        '<a href="https://example.org/far">far</a><img src="data:image/png;base64,AA">',
    ],
)
def test_links_that_lead_somewhere(faults_of, tmp_path, body):
    assert faults_of(site(tmp_path, body)) == []


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ('<a href="none.html">x</a>', "there is no such file"),
        ('<a href="sub/page.html#none">x</a>', "there is no such place on the page"),
        ('<a href="../other.html">x</a>', "leaves the site"),
        ('<img src="gone.png">', "there is no such file"),
        ('<script src="https://example.org/a.js"></script>', "is loaded from the network"),
        ('<link rel="stylesheet" href="https://example.org/a.css">', "is loaded from the network"),
    ],
)
def test_links_that_do_not(faults_of, tmp_path, body, fault):
    (found,) = faults_of(site(tmp_path, body))
    assert found.startswith("index.html: ")
    assert found.endswith(fault)
