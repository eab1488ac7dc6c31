"""Words that fit: nothing wider than its room, the ends kept, nothing that XML forbids."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from planexec_lab.views.drawing import text_fitting, wording
from tests.views.worlds import names


@given(names, st.floats(20, 300))
def test_a_shortened_text_fits_and_keeps_its_ends(text: str, room: float) -> None:
    text = text_fitting.clean(text)
    short = text_fitting.fit(text, room, 11)
    assert text_fitting.width(short, 11) <= room
    if short != text:
        head, _, tail = short.partition("…")
        assert text.startswith(head)
        assert text.endswith(tail)


@given(names, st.floats(40, 300), st.integers(1, 3))
@example("\x1b\u200d🀀\u200d🀀", 40.0, 1)
def test_wrapped_lines_fit(text: str, room: float, most: int) -> None:
    lines = text_fitting.wrap_to(text_fitting.clean(text), room, 11, most)
    assert len(lines) <= most
    assert all(text_fitting.width(line.strip(), 11) <= room for line in lines)


def test_words_are_broken_only_where_there_is_no_other_place() -> None:
    assert text_fitting.wrap("Verify production works", 70, 11) == [
        "Verify",
        " production",
        " works",
    ] or text_fitting.wrap("Verify production works", 70, 11) == ["Verify", "production", "works"]
    assert text_fitting.wrap("backup_database", 70, 11) == ["backup_", "database"]
    assert "".join(text_fitting.wrap("x" * 50, 70, 11)) == "x" * 50


def test_clean_text_is_one_line_without_control_characters() -> None:
    assert text_fitting.clean("a\n b\t\tc\x00d\u202ee\ud800") == "a b c\ufffdd\ufffde\ufffd"


def test_text_is_measured_as_wide_as_dejavu_sans_draws_it() -> None:
    assert text_fitting.width("Deploy to production", 11) == pytest.approx(118, rel=0.03)
    assert text_fitting.width("i" * 10, 10) < text_fitting.width("m" * 10, 10) < text_fitting.width("数" * 10, 10)


@pytest.mark.parametrize(
    ("time", "longest", "text"),
    [(0, None, "0 s"), (0.5, None, "0.5 s"), (103, None, "103 s"), (118.46, None, "118.5 s"), (3720, None, "62 min"),
     (60, 600, "1 min"), (0.0012, None, "1.2 ms")],
)  # fmt: skip
def test_times_are_said_in_the_unit_of_the_figure(time: float, longest: float | None, text: str) -> None:
    assert wording.seconds(time, longest) == text
