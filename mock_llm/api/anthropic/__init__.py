"""Anthropic's Messages API: the same scenes answer `/v1/messages`.

`validation` refuses requests as the real API does (`body` has the shape, `models` the table of models, `turns` the
conversation, `schemas` the JSON schemas), `conversion` reads them, and `answer` and `errors` write the responses.
`others` has the token count and the models.
"""

from .answer import http_response
from .conversion import read
from .errors import error_response, inject
from .others import count_tokens, other
from .validation import validate

__all__ = ["count_tokens", "error_response", "http_response", "inject", "other", "read", "validate"]
