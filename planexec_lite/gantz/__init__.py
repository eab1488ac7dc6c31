"""Tools from a manifest, ``gantz.yaml``: `load` makes a toolbox of it, and ``python -m planexec_lite.gantz serve`` an MCP server.

``manifest`` reads the file, ``script`` puts a reference where a parameter is, ``running`` runs the script, ``toolbox`` makes
tools of all that.
"""

from planexec_lite.gantz.manifest import Manifest, Parameter, parsed, read
from planexec_lite.gantz.script import ManifestError
from planexec_lite.gantz.toolbox import load

__all__ = ["Manifest", "ManifestError", "Parameter", "load", "parsed", "read"]
