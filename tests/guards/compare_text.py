"""A pytest plugin: nbval compares the text form of an output and leaves its picture alone.

`make test-latest` uses it: a newer matplotlib may place a glyph elsewhere, but the figure must still say the same.
"""

from typing import Any

import pytest
from nbval.plugin import IPyNbFile

PICTURES = ("text/html", "image/svg+xml")


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(file_path: Any, parent: Any) -> Any:
    """Add the pictures to what each notebook does not compare."""
    collected = yield
    for book in collected or []:
        if isinstance(book, IPyNbFile):
            book.skip_compare = (*book.skip_compare, *PICTURES)
    return collected
