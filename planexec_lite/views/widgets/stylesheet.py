"""The inline styles of a figure as rules of a style sheet: a widget sends them once, where a stored output repeats them."""

from __future__ import annotations

import re
from hashlib import sha256

WIDGET = """<style>
.pxl-run {max-width: 720px}
.pxl-run, .pxl-run .jupyter-widgets {overflow: visible}
.pxl-run p {margin: 4px 2px; line-height: 1.45; font-size: 13px; color: var(--jp-ui-font-color1, inherit)}
.pxl-run figure {margin-bottom: 8px !important}
.pxl-run td, .pxl-run th, .pxl-run caption, .pxl-run figcaption {line-height: 1.45}
.pxl-run button {width: auto; padding: 0 14px; border-radius: 4px}
.pxl-run .widget-label {text-align: left; color: var(--jp-ui-font-color1, inherit)}
.pxl-run button:focus-visible, .pxl-run input:focus-visible {
  outline: 2px solid var(--jp-ui-font-color1, currentcolor) !important; outline-offset: 2px !important}
@media (max-width: 600px) {
  .pxl-run table {padding: 6px 8px !important}
  .pxl-run td, .pxl-run th {
    white-space: normal !important; overflow-wrap: break-word; padding-right: 6px !important; font-size: 11px !important}
}
</style>"""  # for a widget that shows a run: the ring of the focus is of the text's colour, which stands out on each theme
REPEATED = ("td", "th", "strong", "span")  # each of these has a style in a figure
_STYLED = re.compile(r'<(\w+)((?: [\w-]+="[^"]*")*) style="([^"]*)"')  # words of a plan hold no quote: they are escaped
_CELL = re.compile(r"<td(?= [^>]*>[^<]*[^\x00-\x7f<])")  # plain ASCII runs from left to right anyhow
_ENDING = re.compile(r"</(?:td|th|tr|thead|tbody)>")  # HTML leaves these out at will


class Stylesheet:
    """The styles that were met so far. A rule is named by what it says, so that the widgets of a page agree."""

    def __init__(self) -> None:
        self._rules: dict[str, str] = {}  # selector -> style
        self._names: dict[tuple[str, str], str] = {}  # style and kind of selector -> class

    def taken_from(self, html: str) -> str:
        """Return `html` without its inline styles, and with cells that turn their direction by their own words.

        The first style of a kind of element is a rule for that kind; another style gets a class, which takes back
        what only the first one says.
        """
        usual: dict[str, str] = {}

        def plain(tag_match: re.Match[str]) -> str:
            tag, more, style = tag_match.groups()
            if tag in REPEATED and usual.setdefault(tag, style) == style:
                return f"<{tag}{more}"
            whole = style + "".join(f";{name}:revert" for name in sorted(_named(usual.get(tag, "")) - _named(style)))
            return f"<{tag}{more} class={self._rule(whole, '.{0}.{0}.{0}')}"

        bare = _ENDING.sub("", _STYLED.sub(plain, _CELL.sub('<td dir="auto"', html)))
        around = " ".join(self._rule(style, f".{{0}}.{{0}} {tag}") for tag, style in usual.items())
        return f'<div class="{around}">{bare}</div>'

    def _rule(self, style: str, selector: str) -> str:
        """Keep a rule, and return the class in its selector. A class said twice weighs more than a notebook's rules."""
        if (name := self._names.get((style, selector))) is None:
            name = self._names[style, selector] = f"x{sha256(style.encode()).hexdigest()[:4]}"
            self._rules[selector.format(name)] = style
        return name

    @property
    def html(self) -> str:
        """The style sheet as an element; it stands once in the widget."""
        rules = "".join(f"{selector} {{{style}}}\n" for selector, style in self._rules.items())
        return f"<style>{rules}</style>"


def _named(style: str) -> set[str]:
    """The properties that a style sets."""
    return {rule.partition(":")[0].strip() for rule in style.split(";") if rule}
