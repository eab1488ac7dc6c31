"""JSON schemas, without a word about models: does a value fit, what would fit, and does strict mode take the schema?"""

from .examples import example
from .loose import loose_mode_error
from .strict import strict_mode_error
from .validation import validation_error

__all__ = ["example", "loose_mode_error", "strict_mode_error", "validation_error"]
