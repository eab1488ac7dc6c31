"""OpenAI's API over HTTP, from request to response. Start reading in `routes`, which calls the other modules in order.

Each endpoint (`chat`, `responses`) validates requests and writes answers. Both use `parameters` and `tools` for
validation, `http` for responses, and `fault_injection` for scripted faults.
"""

from .http import error_response
from .routes import Endpoint, State, endpoint, respond

__all__ = ["Endpoint", "State", "endpoint", "error_response", "respond"]
