"""Bug hunts: small programs with a defect that was seen in published planner-executors.

Each hunt is one module, such as `no_backup.py`: symptom, program, test, hints. `python -m exercises.hunts` lists them; in a
notebook, `%load_ext exercises.hunts` gives the same command as `%hunt`. See `exercises/hunts/README.md`.
"""

from typing import Any


def load_ipython_extension(shell: Any) -> None:
    """Define `%hunt` and `%%hunt` in a notebook, also in a browser tab."""
    from exercises.hunts.__main__ import hunt

    shell.register_magic_function(hunt, "line_cell")
