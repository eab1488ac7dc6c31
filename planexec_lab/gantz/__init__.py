"""Tools from a manifest, ``gantz.yaml``: `load` makes a toolbox of it, and ``python -m planexec_lab.gantz serve`` an MCP server.

``manifest`` reads the file, ``script`` puts a reference where a parameter is, ``running`` runs the script, ``toolbox`` makes
tools of all that.
"""

from planexec_lab.gantz.manifest import Manifest, Parameter, parsed, read
from planexec_lab.gantz.script import ManifestError
from planexec_lab.gantz.toolbox import load

__all__ = ["Manifest", "ManifestError", "Parameter", "load", "parsed", "read"]
