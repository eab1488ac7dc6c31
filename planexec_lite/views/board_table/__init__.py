"""The board as a table, whole or in a window of rows. Read `row_window` (which rows), then `board_figure`."""

from planexec_lite.views.board_table.board_figure import board, finding, part
from planexec_lite.views.board_table.row_window import MOST, Window, changed, order, window

__all__ = ["MOST", "Window", "board", "changed", "finding", "order", "part", "window"]
