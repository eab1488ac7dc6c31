"""Asks a model for text, for JSON that fits a schema, or for tool calls, and charges the call to the current job.

The client is an `openai.OpenAI` client. It is connected to a scripted model or to a real endpoint; openai itself is imported
where a client is created. `ask` and `ask_streaming` are the only way to a model: planners, executors and evaluators use them.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextvars import copy_context
from math import ceil
from queue import Empty, SimpleQueue
from threading import Event, Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, Literal
from weakref import WeakKeyDictionary

from planexec_lite.frozen import frozen
from planexec_lite.meter import FOREVER, ModelCall, charge, job_meter
from planexec_lite.model.answer import Answer, Message, Reading, ReportedError, objects, quoted
from planexec_lite.model.prompt_text import fitted
from planexec_lite.model.schemas import is_strict
from planexec_lite.tools.signature import Data

if TYPE_CHECKING:
    from openai import OpenAI

Pieces = Iterator[str | Answer]  # of the text, and the whole answer at the end
Sent = tuple[
    Data, Any
]  # an object of a response, and the milliseconds that the endpoint reports so far
Role = Literal["planner", "executor", "evaluator"]
DEFAULT_MODELS: dict[str, str] = {
    "planner": "gpt-4o",
    "executor": "gpt-4o-mini",
    "evaluator": "gpt-4o",
}
DEFAULT_MAX_TOKENS: dict[str, int] = {"planner": 2_048, "executor": 1_024, "evaluator": 512}
DEFAULT_MAX_PROMPT = 60_000
CHARACTERS_PER_TOKEN = 32
"""More than the average in any language: a longer answer ignores `max_tokens`, and is cut off."""
_USUAL_CHARACTERS = 4  # in one token
_LEAST_OF_A_KEY = 8  # characters; a shorter one, such as "none", could be a word of an error
# of a stream, where each token is a separate object
_BYTES_PER_TOKEN, _BYTES_OF_A_FRAME = 1_024, 65_536
# real seconds: a virtual clock does not advance while an answer is read
_LEAST_ON_A_VIRTUAL_CLOCK = 10.0


def model_for(role: Role) -> str:
    """The name of the model for a role: ``PLANEXEC_PLANNER_MODEL`` and so on in the environment, else the default."""
    return os.environ.get(f"PLANEXEC_{role.upper()}_MODEL") or DEFAULT_MODELS[role]


def endpoint() -> OpenAI | None:
    """Return a client of the real endpoint that ``PLANEXEC_LLM`` names; None if it names none.

    ``PLANEXEC_LLM=openai`` gives a plain `OpenAI()` client, which reads its own key from the environment. A URL, such as
    ``PLANEXEC_LLM=http://127.0.0.1:11434/v1``, gives a client of the endpoint there. Without the variable the model is scripted.

    Raises `ValueError` for a setting that is neither "openai" nor a URL, or for openai without a key, and `ImportError`
    without the openai client.
    """
    setting = os.environ.get("PLANEXEC_LLM", "")
    if setting in ("", "scripted"):
        return None
    try:
        from openai import OpenAI
    except ImportError as error:
        raise ImportError(
            f"a real endpoint needs the openai client: pip install 'planexec-lite[openai]' ({error})"
        ) from None
    if setting == "openai":
        if not os.environ.get("OPENAI_API_KEY"):
            raise ValueError("PLANEXEC_LLM=openai needs your key in OPENAI_API_KEY")
        return OpenAI()
    if setting.startswith(("http://", "https://")):
        return OpenAI(base_url=setting, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    raise ValueError(
        f"PLANEXEC_LLM={setting!r}: set it to openai or to a URL, or leave it out for the scripted model"
    )


@frozen
class Bounds:
    """The bounds of a role's questions and answers.

    Args:
        max_tokens: the most tokens of an answer, including the thoughts of a model that thinks.
        max_prompt: the most characters of a conversation (about four to a token), without the system prompt and the tools.
    """

    max_tokens: int = DEFAULT_MAX_TOKENS["planner"]
    max_prompt: int = DEFAULT_MAX_PROMPT

    @classmethod
    def of(
        cls,
        role: Role,
        max_tokens: int | None = None,
        max_prompt: int | None = None,
    ) -> Bounds:
        """Return the bounds of `role`: the given ones, else those of the environment, else the defaults.

        The environment can set ``PLANEXEC_PLANNER_MAX_TOKENS`` and ``PLANEXEC_PLANNER_MAX_PROMPT``, and so on for each
        role. Raises `ValueError` for a bound that is not a whole number from 1.
        """
        tokens = _whole(f"{role}_max_tokens", max_tokens, DEFAULT_MAX_TOKENS[role])
        return cls(tokens, _whole(f"{role}_max_prompt", max_prompt, DEFAULT_MAX_PROMPT))


def _whole(name: str, given: int | str | None, default: int) -> int:
    setting = f"PLANEXEC_{name.upper()}"
    if given is None:
        name, given = setting, os.environ.get(setting) or default
    if re.fullmatch("0*[1-9][0-9]*", str(given)) is None:
        raise ValueError(f"{name}={str(given)!r}: give a whole number from 1")
    return int(given)


DEFAULT_BOUNDS = Bounds()


def ask(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: Data | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
    *,
    tools: Sequence[Data] = (),
) -> Answer:
    """Ask `model` at temperature 0, and charge its tokens and seconds to the current job.

    Args:
        client: an `openai.OpenAI` client.
        messages: the conversation; each message has a role and a content.
        schema: a closed JSON schema that the answer must fit (strict structured output); None: any text.
        bounds: limits of the answer and the conversation; an answer that reaches its limit ends with "length".
        tools: the tools that the model can call, in the shape that `schemas.function_schema` returns.

    The seconds are those that the endpoint reports in ``openai-processing-ms``, else the measured ones. If the endpoint rejects
    a temperature, the name ``max_tokens`` or the response format, the kit asks again without it. A rejected schema becomes part
    of the prompt.

    Raises `AnswerError` if the endpoint sends no answer, `TimeoutError` if the answer takes longer than its job may take, and
    the client's own errors.
    """
    more = {"tools": list(tools)} if tools else {}
    *_, answer = _asked(client, model, messages, schema, bounds, more)
    assert isinstance(answer, Answer)
    return answer


def ask_streaming(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: Data | None = None,
    bounds: Bounds = DEFAULT_BOUNDS,
) -> Pieces:
    """Ask as `ask` does, and yield each piece of text when it arrives, and the whole `Answer` at the end.

    Time is charged for each piece: the time that the endpoint reports (``timings`` in a chunk, as llama.cpp's server does), else
    the measured time. An answer that ends early has the finish reason "length".
    """
    more = {"stream": True, "stream_options": {"include_usage": True}}
    yield from _asked(client, model, messages, schema, bounds, more)


# Parts of a request that an endpoint may reject, and how its error mentions them.
_OPTIONAL = {
    "response_format": r"response.?format|json.?(schema|mode)|structured.?output|guided|grammar"
}
_OPTIONAL |= {name: name for name in ("stream_options", "max_tokens", "temperature")}
# The rejected parts by client and model.
_rejected: WeakKeyDictionary[Any, dict[str, frozenset[str]]] = WeakKeyDictionary()


def _asked(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: Data | None,
    bounds: Bounds,
    more: Data,
) -> Pieces:
    """Ask, and keep the client's key out of the errors: they reach journals, logs and traces."""
    request = {
        "model": model,
        "messages": fitted(messages, bounds.max_prompt),
        "temperature": 0,
        "max_tokens": bounds.max_tokens,
        **more,
    }
    if schema is not None:
        shape = {"name": "answer", "strict": is_strict(schema), "schema": schema}
        request["response_format"] = {"type": "json_schema", "json_schema": shape}
    try:
        yield from _asked_again(client, request, bounds)
    except Exception as error:
        words, key = str(error), str(getattr(client, "api_key", ""))
        if len(key) >= _LEAST_OF_A_KEY and key in words:
            error.args = (words.replace(key, "[key]"),)
        raise


def _asked_again(
    client: Any,
    request: Data,
    bounds: Bounds,
) -> Pieces:
    """Ask without the rejected parts; once an answer arrives, remember them for this client and model."""
    known = _rejected.setdefault(client, {})
    rejected = known.get(request["model"], frozenset())
    while True:
        sent, note = _without(request, rejected)
        parts = _answered(client, sent, note, bounds)
        try:
            first = next(parts)
        except Exception as error:
            body = getattr(error, "body", None)
            if body and quoted(body) not in str(error):
                error.args = (f"{error}: {quoted(body)}",)
            named = _rejected_parts(error, sent)
            if not named:
                raise
            rejected |= named
        else:
            known[request["model"]] = rejected
            yield first
            yield from parts
            return


def _rejected_parts(error: Exception, sent: Data) -> set[str]:
    """Return the optional parts of a request that the endpoint's error mentions."""
    status = getattr(error, "status_code", None)
    if status not in (400, 415, 422, 501) and not isinstance(error, ReportedError):
        return set()
    words = f"{error} {getattr(error, 'param', '')}"
    named = (name for name, words_for in _OPTIONAL.items() if re.search(words_for, words, re.I))
    return {*named} & sent.keys()


def _without(
    request: Data,
    rejected: frozenset[str],
) -> tuple[Data, str]:
    """Return the request without its rejected parts, and a note about a schema that is in the prompt instead."""
    sent = {name: value for name, value in request.items() if name not in rejected}
    if "max_tokens" in rejected:
        sent["max_completion_tokens"] = request["max_tokens"]
    if "response_format" not in rejected & request.keys():
        return sent, ""
    schema = json.dumps(request["response_format"]["json_schema"]["schema"], ensure_ascii=False)
    system, *rest = request["messages"]
    content = (
        f"{system['content']}\n\nAnswer with one JSON object that fits this JSON schema:\n{schema}"
    )
    sent["messages"] = [{**system, "content": content}, *rest]
    return sent, "the endpoint rejects json_schema; the schema is in the prompt"


def _answered(
    client: Any,
    request: Data,
    note: str,
    bounds: Bounds,
) -> Pieces:
    """Send one request; yield each piece of its answer's text, and the whole `Answer` at the end."""
    seconds_left = _seconds_left()
    if seconds_left == 0:
        raise TimeoutError(
            "no time is left to ask a model; allow a later deadline, or more seconds in the budget"
        )
    job_meter().check_model_call()
    tokens = bounds.max_tokens
    parts = _received(client, request, tokens * _BYTES_PER_TOKEN + _BYTES_OF_A_FRAME)
    reading, charged, began = Reading(max_tokens=tokens), 0.0, perf_counter()
    reported: float | None = None
    for sent, processing_time in _in_time(parts, seconds_left):
        if not sent:
            continue
        piece = reading.add(sent)
        # the last object of a stream has the tokens, and no time of its own
        reported = _seconds(processing_time, reported)
        seconds = perf_counter() - began if reported is None else reported
        charge(max(0.0, seconds - charged))
        charged = max(charged, seconds)
        if piece:
            yield piece
        most = tokens * CHARACTERS_PER_TOKEN
        if len(reading.text) > most:
            reading.text, reading.finish_reason = reading.text[:most], "length"
            break
    read, written = reading.tokens
    if None in reading.tokens:
        no_tokens = "the endpoint reports no tokens; the characters give an estimate"
        note = f"{note}; {no_tokens}" if note else no_tokens
    if read is None:
        asked = json.dumps([request["messages"], request.get("tools")])
        read = ceil(len(asked) / _USUAL_CHARACTERS)
    if written is None:
        written = ceil(reading.characters / _USUAL_CHARACTERS)
    charge(0.0, ModelCall(request["model"], read, written, charged, note))
    yield reading.answer()


def _received(
    client: Any,
    request: Data,
    most: int,
) -> Iterator[Sent]:
    """Send one request, and yield each object of its response."""
    with client.chat.completions.with_streaming_response.create(**request) as response:
        header = None if "stream" in request else response.headers.get("openai-processing-ms")
        for sent in objects(response.iter_bytes(), most):
            timings = sent.get("timings")
            yield sent, timings.get("predicted_ms") if isinstance(timings, dict) else header


def _seconds(milliseconds: Any, otherwise: float | None) -> float | None:
    """Return reported milliseconds as seconds, or `otherwise` if the report is not a number from zero."""
    try:
        seconds = float(milliseconds) / 1000
    except (TypeError, ValueError, OverflowError):
        return otherwise
    return seconds if 0 <= seconds < 1e9 else otherwise


def _seconds_left() -> float | None:
    """Real seconds until the current job times out or has used the run's seconds; None: no bound."""
    meter = job_meter()
    virtual = meter.at is not None
    spent = meter.seconds if virtual else perf_counter() - meter.began
    budget = meter.context.budget
    left = meter.left
    if budget is not None and budget.seconds is not None:
        in_budget = budget.seconds - spent
        left = in_budget if left is None else min(left, in_budget)
    if left is None:
        return None
    least = _LEAST_ON_A_VIRTUAL_CLOCK if virtual else 0.0
    return max(min(left, FOREVER), least)


def _in_time(parts: Iterator[Sent], seconds: float | None) -> Iterator[Sent]:
    """Yield `parts`; raise `TimeoutError` if they are not complete after `seconds`.

    A thread reads them: an endpoint may send its headers slowly or never, and a client may wait before it retries. The thread
    stops at its next part when the caller has stopped.
    """
    if seconds is None:
        yield from parts
        return
    until, abandoned = perf_counter() + seconds, Event()
    received: SimpleQueue[Sent | BaseException | None] = SimpleQueue()

    def read() -> None:
        try:
            for part in parts:
                received.put(part)
                if abandoned.is_set():
                    break
            received.put(None)
        except BaseException as error:
            received.put(error)

    try:
        Thread(
            target=copy_context().run,
            args=(read,),
            name="planexec_lite asks a model",
            daemon=True,
        ).start()
    except RuntimeError:  # a browser tab has no threads
        yield from parts
        return
    try:
        while (left := until - perf_counter()) > 0:
            try:
                part = received.get(timeout=left)
            except Empty:
                break
            if part is None:
                return
            if isinstance(part, BaseException):
                raise part
            yield part
        raise TimeoutError(
            f"the model's answer was not finished after {seconds:.3g} s, when the time of its job was over; "
            "allow a later deadline, more seconds in the budget, or a longer timeout"
        )
    finally:
        abandoned.set()
