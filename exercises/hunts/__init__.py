"""Bug hunts: small programs with a defect that was found in published planner-executors.

`python -m exercises.hunts` lists them, `python -m exercises.hunts NAME` runs one. See `exercises/hunts/README.md`.
"""
