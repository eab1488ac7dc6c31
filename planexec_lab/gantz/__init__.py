"""Tools from a manifest, ``gantz.yaml``: `load` makes a toolbox of it, and ``python -m planexec_lab.gantz serve`` an MCP server.

Of 399 tools in published manifests, it reads 361 (27 November 2026); the others are refused, each with its reason and its line.
``manifest`` reads the file, ``script`` puts a reference where a parameter is, ``words`` checks what each program does with a
value, ``running`` runs the script, ``http`` sends a request, ``toolbox`` makes tools of all that.
"""

from planexec_lab.gantz.manifest import Manifest, Parameter, parsed, read
from planexec_lab.gantz.toolbox import load
from planexec_lab.gantz.words import ManifestError

__all__ = ["Manifest", "ManifestError", "Parameter", "load", "parsed", "read"]
