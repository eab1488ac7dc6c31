"""A sketch shows what its story says, and no word is cut."""

from inspect import cleandoc

import pytest

from planexec_lab.sketches import SKETCHES, sketch


def words(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines() if line]


@pytest.mark.parametrize("name", SKETCHES)
def test_the_text_form_of_a_sketch_is_its_story(name: str) -> None:
    figure = sketch(name)
    assert words(figure.text) == words(cleandoc(SKETCHES[name]))
    assert "…" not in figure.svg


def test_an_unknown_sketch_names_those_that_exist() -> None:
    with pytest.raises(ValueError, match="no sketch 'loop'; there are: toy, react"):
        sketch("loop")
