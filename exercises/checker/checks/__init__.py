"""The checks and hints of the exercises, in one module per lesson: `lesson_01` to `lesson_16`."""
