"""The world of the bisection: versions of a small package, one folder each, and the tests that run on them."""

from typing import Any, ClassVar

from planexec_lab.worlds.folder import FolderWorld, Tools
from planexec_lab.worlds.refactor.suite import run

GOAL = "Version 1 passes its tests and version 32 fails; find the version that broke, and mark it"
VERSIONS = 32

_SHOP = '''"""A basket, as of version {version}."""

SHIPPING = {shipping}


def total(cents):
    """What a basket costs, with shipping."""
    return sum(cents) {minus}SHIPPING
'''
_TESTS = """import unittest

from shop import basket


class Total(unittest.TestCase):
    def test_shipping_is_added(self):
        self.assertEqual(basket.total([100, 250]), 350 + basket.SHIPPING)

    def test_an_empty_basket_costs_shipping_alone(self):
        self.assertEqual(basket.total([]), basket.SHIPPING)
"""


class World(FolderWorld):
    """Thirty-two versions of a shop; from one on, its total is wrong.

    Args:
        broke: the first version that fails its tests, from 2 to 32.
    """

    TOOLS: ClassVar[Tools] = {"test_version": (20, "none"), "mark_version": (1, "idempotent")}
    DESTRUCTIVE = ()

    def __init__(self, broke: int = 13) -> None:
        super().__init__()
        self.broke = broke
        for version in range(1, VERSIONS + 1):
            sign = "+ " if version < broke else "- "
            source = _SHOP.format(version=version, shipping=400 + 10 * version, minus=sign)
            self._write(version, "shop", {"__init__.py": "", "basket.py": source})
            self._write(version, "tests", {"__init__.py": "", "test_basket.py": _TESTS})

    @property
    def marked(self) -> int | None:
        """The version that was marked as the first broken version; None before that."""
        mark = self.folder / "broke.txt"
        return int(mark.read_text()) if mark.exists() else None

    def test_version(self, version: int) -> dict[str, Any]:
        """Run the unit tests of a version.

        Args:
            version: from 1 to 32
        """
        report = run(self._known(version), [])
        return {"version": version, "passes": not report["failed"], "summary": report["summary"]}

    def mark_version(self, version: int) -> dict[str, Any]:
        """Mark the version that broke: the first one that fails.

        Args:
            version: from 1 to 32
        """
        self._known(version)
        (self.folder / "broke.txt").write_text(str(version))
        return {"marked": version}

    def _known(self, version: int) -> Any:
        folder = self.folder / f"v{version}"
        if not folder.exists():
            raise ValueError(f"there is no version {version}; there are 1 to {VERSIONS}")
        return folder

    def _write(self, version: int, package: str, files: dict[str, str]) -> None:
        folder = self.folder / f"v{version}" / package
        folder.mkdir(parents=True)
        for name, text in files.items():
            (folder / name).write_text(text, encoding="utf-8", newline="\n")
