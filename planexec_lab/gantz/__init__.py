"""Tools from a manifest, ``gantz.yaml``: `load` returns a toolbox, and ``python -m planexec_lab.gantz serve`` is an MCP server.

``manifest`` reads the file, ``script`` has the rule for scripts and values, ``running`` runs scripts, and ``toolbox`` makes the
tools.
"""

from planexec_lab.gantz.manifest import Manifest, Parameter, parsed, read
from planexec_lab.gantz.script import ManifestError
from planexec_lab.gantz.toolbox import load

__all__ = ["Manifest", "ManifestError", "Parameter", "load", "parsed", "read"]
