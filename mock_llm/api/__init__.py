"""OpenAI's API over HTTP, from request to response. Start reading in `routes`, which calls the other modules in order.

Each endpoint (`chat`, `responses`) validates requests and writes answers. Both use `parameters` and `tools` for
validation, `http` for responses, and `fault_injection` for scripted faults.
"""

from .http import error_response
from .routes import ENDPOINTS, Endpoint, State, respond

__all__ = ["ENDPOINTS", "Endpoint", "State", "error_response", "respond"]
