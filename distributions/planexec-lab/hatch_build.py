"""Where the package is when its distribution is built: beside this file, or in the tree that holds all packages."""

from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class PackageOfTheTree(BuildHookInterface[Any]):
    """Puts the tree's package into the archive; an editable installation points at the tree instead."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folder to hatchling.

        Args:
            version: "standard" or "editable".
            build_data: what is added to the archive.
        """
        root, package = Path(self.root), self.metadata.name.replace("-", "_")
        tree = root if (root / package).is_dir() else root.parent.parent
        if version == "standard" and tree != root:
            build_data["force_include"][str(tree / package)] = package
        looks = tree / package / "views" / "labextension"  # JupyterLab looks for it under share/
        target = f"share/jupyter/labextensions/{self.metadata.name}-looks"
        shared = build_data.get("shared_data", {})  # an archive of the source has none
        for path in looks.rglob("*.js*"):
            shared[str(path)] = f"{target}/{path.relative_to(looks).as_posix()}"
