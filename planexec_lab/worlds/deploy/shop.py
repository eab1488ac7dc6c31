"""Running the shop: its code is loaded from a folder and called, as a test runner and a web server would."""

import runpy
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PATHS = ("/health", "/orders", "/total")


def version(folder: Path) -> str:
    """The version that the code in `folder` says it is."""
    return str(_application(folder)["VERSION"])


def test(folder: Path) -> tuple[list[str], list[str]]:
    """Run the tests in `folder` against its application; return the names of those that passed and of those that failed."""
    handle = _application(folder)["handle"]
    tests = {name: test for name, test in runpy.run_path(str(folder / "tests.py")).items() if name.startswith("test_")}
    passed = [name for name, test in tests.items() if _passes(test, handle)]
    return passed, [name for name in tests if name not in passed]


def answers(folder: Path, settings: dict[str, str], orders: Sequence[tuple[int, int]]) -> dict[str, str]:
    """Call every path of the application in `folder`; return status and body by path."""
    handle = _application(folder)["handle"]
    return {path: _answer(handle, path, settings, orders) for path in PATHS}


def _application(folder: Path) -> dict[str, Any]:
    return runpy.run_path(str(folder / "app.py"))


def _passes(test: Any, handle: Any) -> bool:
    try:
        test(handle)
    except Exception:
        return False
    return True


def _answer(handle: Any, path: str, settings: Any, orders: Any) -> str:
    """The application's answer; an error inside it is a 500, as a web server makes it."""
    try:
        status, body = handle(path, settings, orders)
    except Exception as error:
        return f"500 {type(error).__name__} {error}"
    return f"{status} {body}"
