"""Anthropic's Messages API: the same scenes answer `/v1/messages`.

`validation` refuses requests as the real API does: `body` checks the shape, `models` the rules of each model, `turns` the
conversation, and `schemas` the JSON schemas. `conversion` reads requests; `answer` and `errors` write responses.
`others` counts tokens and lists the models.
"""

from .answer import http_response
from .conversion import read
from .errors import error_response, inject
from .others import count_tokens, other
from .turns import signed
from .validation import validate

__all__ = ["count_tokens", "error_response", "http_response", "inject", "other", "read", "signed", "validate"]
