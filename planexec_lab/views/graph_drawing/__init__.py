"""The graph of a plan or a run, drawn left to right by dependency.

Read `layers` (the column of each step), `place` (order and height), `cards` (size), `sketch` (the SVG), then
`graph_figure`, which writes the title and the text form.
"""

from planexec_lab.views.graph_drawing.graph_figure import draw, graph

__all__ = ["draw", "graph"]
