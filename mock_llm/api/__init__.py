"""OpenAI's API over HTTP, from request to response: `routes` is the way through, step by step.

Each endpoint (`chat`, `responses`) validates requests and writes answers. What both have in common stands beside them:
`parameters` and `tools` for validation, `http` for responses, `fault_injection` for what a script lets go wrong.
"""

from .http import error_response
from .routes import ENDPOINTS, State, respond

__all__ = ["ENDPOINTS", "State", "error_response", "respond"]
