"""Drawing a graph: from cards and a shape to an SVG of at most 720 pixels' width, left to right by dependency."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from planexec_lab.views.drawing import theme
from planexec_lab.views.drawing.svg_canvas import Box, Canvas
from planexec_lab.views.drawing.text_fitting import fit, width, wrap_to
from planexec_lab.views.drawing.theme import MARGIN, SMALL
from planexec_lab.views.graph_drawing.cards import PAD, PORT, ROW, Card, lines, measure
from planexec_lab.views.graph_drawing.layers import Band, Pair, Shape, Spot
from planexec_lab.views.graph_drawing.place import arrange

LANE = 22.0
MOST_COLUMNS, MOST_MARKED, MOST_IN_BANDS = 7, 6, 5


class Sketch:
    """A graph on a canvas. `arrows` holds every edge that was drawn, as (from, to, start x, end x, closes a cycle)."""

    def __init__(self, title: str, cards: Mapping[str, Card], shape: Shape, thick: Collection[Pair]) -> None:
        self.canvas, self.many = Canvas(), len(shape.bands) > 1
        self.cards, self.thick, self.circles = cards, thick, set(shape.circles)
        self.arrows: list[tuple[Spot, Spot, float, float, bool]] = []
        most = max((len(band.circles) for band in shape.bands), default=0)
        self.side = 12.0 + 4 * most if most else 0.0
        self.measures = measure(list(cards.values()), shape.bands, 2 * self.side)
        top, right = self.canvas.heading(title)
        self.wide = max(440.0 - MARGIN, right)
        self.high = top - 4
        for band in shape.bands:
            self._band(band, self.high)
        self.size = min(int(self.wide) + MARGIN, theme.WIDEST), int(self.high) - 4
        self.svg = self.canvas.svg(*self.size)

    def _band(self, band: Band, top: float) -> None:
        measures = self.measures
        high = {"step": measures.height, "unknown": measures.height, "via": 8.0}
        middle = arrange(
            band,
            lambda spot: high.get(spot.kind, 2 * ROW),
            10.0 if measures.foot_rows + measures.name_rows > 1 else 6.0,
        )
        places: dict[Spot, Box] = {}
        x = float(MARGIN + self.side)
        if self.many and not band.columns[0][0].kind.endswith("from"):
            x += PORT + measures.gap
        for column in band.columns:
            wide = measures.width if any(spot.kind in high for spot in column) else PORT
            for spot in column:
                tall = high.get(spot.kind, 2 * ROW)
                places[spot] = Box(x, top + middle[spot] - tall / 2, wide, tall, spot.id)
            x += wide + measures.gap
        for link, pairs in band.links.items():
            self._link(*link, places, pairs)
        for spot, box in places.items():
            self._spot(spot, box, band)
        bottom = max((box.y + box.height for box in places.values()), default=top)
        for lane, pair in enumerate(band.circles):
            spots = {spot.id: box for spot, box in places.items() if spot.kind == "step"}
            self._circle(pair, spots[pair[0]], spots[pair[1]], lane, bottom + LANE * (lane + 1))
        self.wide = max(self.wide, x - measures.gap + self.side)
        self.high = bottom + LANE * len(band.circles) + 20

    def _link(self, one: Spot, other: Spot, places: Mapping[Spot, Box], pairs: Collection[Pair]) -> None:
        a, b = places[one], places[other]
        circle = all(pair in self.circles for pair in pairs)
        thick = any(pair in self.thick for pair in pairs)
        ink = theme.ALARM if circle else theme.TEXT if thick else theme.LINE
        weight = 2.5 if thick else 1.25
        start, end = a.x + a.width, b.x
        y, to = a.y + a.height / 2, b.y + b.height / 2
        tip = 0.0 if other.kind == "via" else 5.0 + weight
        bend = (end - tip - start) / 2
        begin = f"M{a.x:g} {y:g}H{start:g}" if one.kind == "via" else f"M{start:g} {y:g}"
        way = f"{begin}C{start + bend:g} {y:g} {end - tip - bend:g} {to:g} {end - tip:g} {to:g}"
        self.canvas.line(way, ink=ink, thick=weight, dashed=circle or one.kind == "unknown")
        if tip:
            self.canvas.head(end, to, ink=ink, thick=weight)
        self.arrows.append((one, other, start, end, circle))

    def _spot(self, spot: Spot, box: Box, band: Band) -> None:
        if spot.kind == "step":
            card = self.cards[spot.id]
            with self.canvas.step(card.id, ", ".join([f"{card.id} {card.name}", *card.feet])):
                self._card(card, box)
        elif spot.kind == "unknown":
            self._card(self.cards[spot.id], box, unknown=True)
        elif spot in band.ports:
            ink = theme.ALARM if "circle" in spot.kind else theme.MUTED
            words = wrap_to(f"{spot.kind} {', '.join(band.ports[spot])}", box.width - 4, SMALL, 2)
            top = box.y + box.height / 2 - ROW * len(words) / 2 + 10.5
            leaving = spot.kind.endswith("to")
            for row, line in enumerate(words):
                x = box.x + 4 if leaving else box.x + box.width - 4
                self.canvas.text(x, top + ROW * row, line.strip(), ink=ink, anchor="start" if leaving else "end")

    def _card(self, card: Card, box: Box, unknown: bool = False) -> None:
        look, measures = card.look, self.measures
        ink = theme.ALARM if unknown else look.ink if look else theme.TEXT
        fill = look.fill if look else theme.WHITE
        faint = unknown or (look is not None and look.word == "skipped")
        self.canvas.box(box, fill=fill, ink=ink, thick=3 if card.thick else 1, dashed=faint)
        left, right, y = box.x + PAD, box.x + box.width - PAD, box.y + 15.5
        id, words = lines(card, measures)
        for row, line in enumerate(words):
            self.canvas.text(left, y + ROW * row, line.strip(), bold=id if row == 0 else "")
        if not measures.foot_rows:
            for foot in reversed(card.feet):
                self.canvas.text(right, y, foot, ink=ink, anchor="end")
                right -= width(foot, SMALL) + 8
            return
        y = box.y + box.height - 8 - ROW * (measures.foot_rows - 1) + 1
        if measures.foot_rows == 1 and len(card.feet) > 1:
            self.canvas.text(left, y, "  ".join(card.feet[:-1]), ink=ink)
            self.canvas.text(right, y, card.feet[-1], ink=ink, anchor="end")
            return
        for row, foot in enumerate(card.feet):
            self.canvas.text(left, y + ROW * row, fit(foot, measures.room, SMALL), ink=ink)

    def _circle(self, pair: Pair, one: Box, other: Box, lane: int, y: float) -> None:
        """An edge that runs back: out to the right, below everything, and in from the left."""
        ink, r, out = theme.ALARM, 6, 8 + 4 * lane
        right, left = one.x + one.width + out, other.x - out
        start, end = one.y + one.height / 2 + 8, other.y + other.height / 2 + 8
        way = (
            f"M{one.x + one.width:g} {start:g}H{right - r:g}q{r} 0 {r} {r}V{y - r:g}q0 {r} {-r} {r}"
            f"H{left + r:g}q{-r} 0 {-r} {-r}V{end + r:g}q0 {-r} {r} {-r}H{other.x - 6:g}"
        )
        self.canvas.line(way, ink=ink, thick=1.75, dashed=True)
        self.canvas.head(other.x, end, ink=ink)
        steps = Spot("step", pair[0], 0), Spot("step", pair[1], 0)
        self.arrows.append((*steps, one.x + one.width, other.x, True))
        words = f"cycle: {pair[1]} waits for {pair[0]}"
        inside, beside = right - left - 16, theme.WIDEST - MARGIN - right - 6
        before = left - 6 - MARGIN
        if width(words, SMALL) <= inside or inside >= max(beside, before):
            x, room = left + 10, inside
        elif beside >= before:
            x, room = right + 6, beside
        else:
            x, room = MARGIN, before
        words = fit(words, room, SMALL)
        self.canvas.text(x, y - 5, words, ink=ink, halo=True)
        self.wide = max(self.wide, x + width(words, SMALL))
