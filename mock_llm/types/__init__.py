"""The values that all parts exchange: requests, answers, errors, faults, and HTTP messages. They have no behavior
except reading.
"""

from .answers import Answer, Choice, ToolCall, Usage
from .errors import (
    NAME,
    SCRIPT_ERROR,
    ApiError,
    bad_request,
    empty_array,
    empty_text,
    invalid_name,
    invalid_type,
    invalid_value,
    listed,
    missing_parameter,
    not_an_object,
    not_supported,
    number_above,
    number_below,
    suggestion,
    too_long_array,
    too_long_text,
    unknown_parameter,
    unprocessable,
)
from .faults import RETRY_AFTER_MS, STATUS, Fault, parse_fault
from .http import HttpRequest, HttpResponse
from .items import SERVICE_ITEMS, ServiceItem
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
    "bad_request",
    "empty_array",
    "empty_text",
    "image_hash",
    "invalid_name",
    "invalid_type",
    "invalid_value",
    "listed",
    "missing_parameter",
    "not_an_object",
    "not_supported",
    "number_above",
    "number_below",
    "parse_fault",
    "suggestion",
    "too_long_array",
    "too_long_text",
    "unknown_parameter",
    "unprocessable",
]
