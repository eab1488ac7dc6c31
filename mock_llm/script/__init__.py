"""Scripts: scenes as values (`scenes`, `replies`).

`loading` reads them from YAML, `writing` writes them as YAML, and `dialogue` builds them in Python.
"""

from .dialogue import Dialogue, dialogue_name
from .errors import ScriptError
from .loading import Source, read_scenes
from .replies import KINDS, NOTHING, Reply, ToolUse
from .scenes import Scene, When, check_unseen
from .writing import as_yaml, write_yaml
from .yaml_lines import read_yaml

__all__ = [
    "KINDS",
    "NOTHING",
    "Dialogue",
    "Reply",
    "Scene",
    "ScriptError",
    "Source",
    "ToolUse",
    "When",
    "as_yaml",
    "check_unseen",
    "dialogue_name",
    "read_scenes",
    "read_yaml",
    "write_yaml",
]
