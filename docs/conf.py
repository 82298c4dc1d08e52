"""The site: Sphinx with Markdown pages, numpydoc, a gallery and figures drawn while it is built."""

import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import adatron  # noqa: E402
import tables  # noqa: E402 — beside this file

project = "adatron"
author = "The adatron developers"
copyright = "The adatron developers, BSD 3-clause"
release = version = adatron.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
    "matplotlib.sphinxext.plot_directive",
    "sphinx_design",
    "mathml",  # beside this file
]
html_math_renderer = "mathml"
myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath"]
myst_heading_anchors = 3
exclude_patterns = ["_build", "README.md", "sg_execution_times.rst", "**/sg_execution_times.rst"]

suppress_warnings = ["ref.ref"]  # labels of scikit-learn's user guide, in docstrings that are inherited

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc has them
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

plot_formats = [("svg", 96)]
plot_html_show_formats = False
plot_html_show_source_link = False
plot_include_source = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "matplotlib_animations": True,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "show_memory": False,
    "within_subsection_order": "FileNameSortKey",
}

html_theme = "pydata_sphinx_theme"
html_title = "adatron"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_theme_options = {
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "navbar_align": "left",
    "header_links_before_dropdown": 4,
    "secondary_sidebar_items": ["page-toc"],
}
# pages with none below them need no navigation beside them, and code needs the room
_ALONE = [*HERE.glob("*.md"), *HERE.glob("howto/*.md")]
html_sidebars = {page.relative_to(HERE).with_suffix("").as_posix(): [] for page in _ALONE}
html_copy_source = False


def _without_network(app, exception):
    """Animations ask a distant server for their buttons' icons; the theme has brought them already."""
    distant = re.compile(r'<link rel="stylesheet"\s+href="https://[^"]*font-awesome[^"]*">')
    for path in (Path(app.outdir) / "gallery").glob("*.html"):
        text = path.read_text(encoding="utf-8")
        if distant.search(text):
            path.write_text(distant.sub("", text), encoding="utf-8")


def setup(app):
    """Write the tables that are made from measurements before the pages are read."""
    app.connect("builder-inited", lambda _: tables.write(HERE / "_generated"))
    app.connect("build-finished", _without_network)
