"""Where the package is when its distribution is built: beside this file, or in the tree that holds both."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackageOfTheTree(BuildHookInterface[Any]):
    """Puts the tree's folder mock_llm into the archive; an editable installation points at the tree instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder to hatchling.

        Args:
            version: "standard" or "editable".
            build_data: what is added to the archive.
        """
        root = Path(self.root)
        if version == "standard" and not (root / "mock_llm").is_dir():
            build_data["force_include"][str(root.parent.parent / "mock_llm")] = "mock_llm"
