"""Errors of the API: the error value, and the real API's messages, each with an explanation for learners."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
SCRIPT_ERROR = "mock_llm_error"  # the type of errors that the real API would not give


@dataclass(frozen=True, slots=True)
class ApiError:
    """An error response of the server: the HTTP status, the four fields of OpenAI's error body, and the explanation for
    learners. The explanation is in the log and in the header `x-mock-llm-hint`, never in the body.
    """

    status: int
    message: str
    type: str = "invalid_request_error"
    param: str | None = None
    code: str | None = None
    hint: str = ""

    def __str__(self) -> str:
        return f"{self.message}\n[mock_llm] {self.hint}" if self.hint else self.message


def suggestion(name: object, known: Iterable[str], otherwise: str = "it is one of ") -> str:
    """Return a fix for an unknown name: the most similar known one, or all of them after the words `otherwise`."""
    names = list(known)
    near = difflib.get_close_matches(str(name), names, 1)
    return f"did you mean {near[0]!r}?" if near else otherwise + ", ".join(names)


def unprocessable(code: str, message: str) -> ApiError:
    """No single scene fits, or the fitting scene's answer can't be given."""
    # The real API never answers 422, and clients never retry it. So a mistake in the script can't be confused with a bad request,
    # and it costs only one call.
    return ApiError(422, message, SCRIPT_ERROR, None, code)
