"""Self-contained HTML pages for light and dark themes, all screen widths and print; they load nothing.

Every function escapes the text it is given, and returns a piece of HTML.

>>> paragraph("1 < 2")
'<p>1 &lt; 2</p>'
>>> table(["σ", "error"], [["1", "7.69 %"]], numeric=[1]).count("<td")
2
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from adatron.display.figures import GRID, INK, figure_svg

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_INVISIBLE = r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]"  # controls, turns of direction
_LEAST_SCALE = 0.62  # of a figure: below it, a narrow window scrolls


def escape(text: str, quote: bool = True) -> str:
    """Text as HTML; what would steer a terminal or turn the direction of text is shown as ``\\x1b``."""
    return html.escape(_visible(text), quote)


def _visible(text: str) -> str:
    return re.sub(_INVISIBLE, lambda found: ascii(found[0])[1:-1], text)


def page(title: str, body: Sequence[str]) -> str:
    """The HTML page around the pieces in `body`."""
    inside = "\n".join(body)
    style = files("adatron.display").joinpath("page.css").read_text(encoding="utf-8")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{escape(title)}</title>
<style>
{style}</style>
</head>
<body>
<main>
<h1>{escape(title)}</h1>
{inside}
</main>
</body>
</html>
"""


def paragraph(text: str, *, kind: str = "") -> str:
    """A paragraph; `kind` is a class of the style sheet."""
    return f"<p{_class(kind)}>{escape(text)}</p>"


def heading(text: str) -> str:
    return f"<h2>{escape(text)}</h2>"


def code(text: str) -> str:
    return f"<pre><code>{escape(text)}</code></pre>"


def items(texts: Sequence[str]) -> str:
    return "<ul>" + "".join(f"<li>{escape(text)}</li>" for text in texts) + "</ul>" if texts else ""


def definitions(pairs: Sequence[tuple[str, str]]) -> str:
    return "<dl>" + "".join(f"<dt>{escape(k)}</dt><dd>{escape(v)}</dd>" for k, v in pairs) + "</dl>"


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], *, numeric: Sequence[int] = (),
    wide: Sequence[int] = (), caption: str = "", raw: Sequence[int] = (),
) -> str:  # fmt: skip
    """A table that scrolls by itself when it is too wide.

    Columns `numeric` are set flush right, columns `wide` hold sentences; columns `raw` are pieces of HTML
    already.
    """
    kinds = ["n" if i in numeric else "w" if i in wide else "" for i in range(len(header))]

    def line(tag: str, texts: Sequence[str], raw: Sequence[int] = ()) -> str:
        cells = [text if i in raw else escape(text) for i, text in enumerate(texts)]
        tagged = [f"<{tag}{_class(kind)}>{cell}</{tag}>" for kind, cell in zip(kinds, cells, strict=True)]
        return f"<tr>{''.join(tagged)}</tr>"

    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    body = "\n".join(line("td", row, raw) for row in rows)
    inside = f"{title}<thead>{line('th', header)}</thead>\n<tbody>{body}</tbody>"
    return f'<div class="scroll"><table>{inside}</table></div>'


def figure_html(figure: Figure | str, caption: str) -> str:
    """A figure with its caption, whose ink follows the theme; a string is an SVG of `figure_svg`."""
    svg = _visible(figure if isinstance(figure, str) else figure_svg(figure))
    points = float(svg.partition('width="')[2].partition("pt")[0])
    svg = svg.replace(INK, "currentColor").replace(GRID, "var(--grid)")
    width = _LEAST_SCALE * points * 96 / 72
    label = f'role="img" aria-label="{escape(caption, quote=True)}" style="min-width: {width:.0f}px"'
    svg = svg.replace("<svg ", f"<svg {label} ", 1)
    return f"<figure>{svg}<figcaption>{escape(caption)}</figcaption></figure>"


def beside(figures: Sequence[str]) -> str:
    """Figures side by side where there is room."""
    return f'<div class="beside">{"".join(figures)}</div>' if len(figures) > 1 else "".join(figures)


def _class(names: str) -> str:
    return f' class="{names}"' if names else ""
