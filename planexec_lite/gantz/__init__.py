"""Tools from a manifest, ``gantz.yaml``: `load` makes a toolbox of it, and ``python -m planexec_lite.gantz serve`` an MCP server.

``manifest`` reads the file, ``quoting`` puts a reference where a parameter stands, ``programs`` knows what takes values for
code, ``running`` runs the script, ``toolbox`` makes tools of all that.
"""

from planexec_lite.gantz.manifest import Manifest, ManifestError, Parameter, parsed, read
from planexec_lite.gantz.quoting import QuotingError, Script, placed
from planexec_lite.gantz.toolbox import load

__all__ = ["Manifest", "ManifestError", "Parameter", "QuotingError", "Script", "load", "parsed", "placed", "read"]
