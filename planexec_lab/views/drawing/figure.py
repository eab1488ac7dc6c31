"""The value that a view returns: one picture with the same content as HTML, SVG and text.

A fresh clone's notebooks are not trusted, and JupyterLab shows neither SVG outputs nor inline ``<svg>`` in them. It does show an
``<img>`` with the SVG in its address and a table with inline styles, so a figure uses these. The script of the folder
`labextension` then puts the SVG itself in the place of the image, in JupyterLab, in the tab and on the site.
"""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from urllib.parse import quote

from planexec_lab.views.drawing import theme

_PLATE = f"margin:0;background-color:{theme.PLATE};border-radius:8px;overflow-x:auto"
_LEGIBLE = 600  # px: a narrower frame, as on a phone, scrolls instead of shrinking the picture further
_CAPTION = f"margin:0;padding:2px {theme.MARGIN}px 14px;color:{theme.MUTED};font-size:12px;line-height:1.45"


@dataclass(frozen=True, repr=False)
class Figure:
    """A picture.

    Args:
        title: the finding, in one sentence.
        text: the text form, with everything that the picture shows.
        alt: the text alternative, one to three sentences.
        caption: how to read the picture.
        width: in pixels, 720 at most.
        svg: the picture; empty where it is a table.
        table: the picture as an HTML table; empty where it is an SVG.
    """

    title: str
    text: str
    alt: str
    caption: str
    width: int
    svg: str = ""
    table: str = ""

    def __repr__(self) -> str:
        return self.text

    __str__ = __repr__

    def _repr_html_(self) -> str:
        picture = self.table or (
            f'<img alt="{escape(self.alt)}" width="{self.width}"'
            f' style="display:block;min-width:{min(self.width, _LEGIBLE)}px;max-width:100%;height:auto"'
            f' src="{_address(self.svg)}">'
        )
        caption = f'\n<figcaption style="{_CAPTION}">{escape(self.caption)}</figcaption>' if self.caption else ""
        return f'<figure style="{_PLATE};max-width:{self.width}px">\n{picture}{caption}\n</figure>'


def _address(svg: str) -> str:
    """The SVG as a data address. Browsers drop the line breaks in it; they are there for people who read a diff."""
    return "data:image/svg+xml," + quote(svg, safe=" =:/,;()!*+@?'$~\n").replace("\n", "%0A\n")
