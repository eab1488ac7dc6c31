"""The thin layer over the openai client (`asking`), and how long answers and conversations may be (`bounds`)."""

from planexec_lite.model.asking import (
    DEFAULT_MODELS,
    Answer,
    Message,
    ToolCall,
    ask,
    ask_streaming,
    converse,
    model_for,
)
from planexec_lite.model.bounds import SHORT, Bounds, Role, fitted, listed, shortened

__all__ = [
    "DEFAULT_MODELS", "SHORT", "Answer", "Bounds", "Message", "Role", "ToolCall", "ask", "ask_streaming", "converse",
    "fitted", "listed", "model_for", "shortened",
]  # fmt: skip
