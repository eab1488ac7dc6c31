"""The values that all parts exchange: requests, answers, errors, faults, and HTTP messages. They have no behavior
except reading.
"""

from .answers import Answer, Choice, ToolCall, Usage
from .errors import (
    NAME,
    SCRIPT_ERROR,
    ApiError,
    suggestion,
    unprocessable,
)
from .faults import RETRY_AFTER_MS, STATUS, Fault, parse_fault
from .http import HttpRequest, HttpResponse
from .items import SERVICE_ITEMS, ServiceItem, input_items
from .requests import Message, Request, image_hash

__all__ = [
    "NAME",
    "RETRY_AFTER_MS",
    "SCRIPT_ERROR",
    "SERVICE_ITEMS",
    "STATUS",
    "Answer",
    "ApiError",
    "Choice",
    "Fault",
    "HttpRequest",
    "HttpResponse",
    "Message",
    "Request",
    "ServiceItem",
    "ToolCall",
    "Usage",
    "image_hash",
    "input_items",
    "parse_fault",
    "suggestion",
    "unprocessable",
]
