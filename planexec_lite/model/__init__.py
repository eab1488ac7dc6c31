"""The thin layer over the openai client (`asking`, `answer`), and how long answers and conversations may be (`bounds`)."""

from planexec_lite.model.answer import Answer, AnswerError, Message, ToolCall
from planexec_lite.model.asking import DEFAULT_MODELS, ask, ask_streaming, converse, endpoint, model_for, read_answer
from planexec_lite.model.bounds import SHORT, Bounds, Role, fitted, listed, shortened

__all__ = [
    "DEFAULT_MODELS", "SHORT", "Answer", "AnswerError", "Bounds", "Message", "Role", "ToolCall", "ask", "ask_streaming",
    "converse", "endpoint", "fitted", "listed", "model_for", "read_answer", "shortened",
]  # fmt: skip
