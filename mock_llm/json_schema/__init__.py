"""JSON schemas, independent of models: checks values, makes examples, and checks schemas for strict mode."""

from .examples import example
from .loose import loose_mode_error
from .strict import strict_mode_error
from .validation import validation_error

__all__ = ["example", "loose_mode_error", "strict_mode_error", "validation_error"]
