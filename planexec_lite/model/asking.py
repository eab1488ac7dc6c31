"""The thin layer over the openai client: ask a model for text, for JSON that fits a schema, or for tool calls, and charge for it.

The client is the genuine one, pointed at a scripted model or at a real endpoint; openai itself is imported where the client
is made. This file reads every answer, with `answer`, and bounds its characters and its time.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, wait
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

from planexec_lite.meter import ModelCall, charge, current
from planexec_lite.model.answer import Answer, AnswerError, Message, Reading, ThoughtFilter, objects, words_of
from planexec_lite.model.bounds import Bounds, Role, fitted

if TYPE_CHECKING:
    from openai import OpenAI

UNBOUNDED = Bounds()
DEFAULT_MODELS: dict[str, str] = {"planner": "gpt-4o", "executor": "gpt-4o-mini", "evaluator": "gpt-4o"}
CHARACTERS_PER_TOKEN = 32
"""More than the tokens of any language have on average: a longer answer ignores `max_tokens`, and is cut off."""
_BYTES_PER_TOKEN, _BYTES_OF_A_FRAME = 1_024, 65_536  # of a stream, where each token is an object of its own
_MOST_TOKENS = 100_000  # of an answer without a bound
_LEAST_ON_A_VIRTUAL_CLOCK = 10.0  # real seconds: a virtual clock does not run while an answer is read


def model_for(role: Role) -> str:
    """The name of the model for a role: ``PLANEXEC_PLANNER_MODEL`` and so on in the environment, else the default."""
    return os.environ.get(f"PLANEXEC_{role.upper()}_MODEL") or DEFAULT_MODELS[role]


def endpoint() -> OpenAI | None:
    """Return a client of the real endpoint that ``PLANEXEC_LLM`` names; None if it names none.

    ``PLANEXEC_LLM=openai`` gives a plain `OpenAI()` client, which reads its own key from the environment. A URL, such as
    ``PLANEXEC_LLM=http://127.0.0.1:11434/v1``, gives a client of the endpoint there. Without the variable the model is scripted.

    Raises `ValueError` for a setting that is neither "openai" nor a URL, and `ImportError` without the openai client.
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
        return OpenAI()
    if setting.startswith(("http://", "https://")):
        return OpenAI(base_url=setting, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    raise ValueError(f"PLANEXEC_LLM={setting!r}: set it to openai or to a URL, or leave it out for the scripted model")


def ask(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: dict[str, Any] | None = None,
    bounds: Bounds = UNBOUNDED,
) -> Answer:
    """Ask `model` at temperature 0, and charge its tokens and seconds to the job that is running.

    Args:
        client: an `openai.OpenAI` client.
        messages: the conversation, each with a role and a content.
        schema: a closed JSON schema that the answer must fit (strict structured output); None: any text.
        bounds: limits of the answer and the conversation; an answer at its limit ends with "length".

    Seconds are those that the endpoint reports in ``openai-processing-ms``, else those measured. An endpoint that does
    not support a temperature, or calls the limit ``max_completion_tokens``, is asked accordingly. If the endpoint rejects the
    schema, the kit asks for a JSON object, or for text, and puts the schema into the prompt; the `ModelCall` has a note.

    Raises `AnswerError` if the endpoint sends no answer, `TimeoutError` if the answer takes longer than its job may take, and
    the client's own errors.
    """
    return _last(_asked(client, _options(model, messages, bounds), schema, bounds))


def ask_streaming(
    client: Any,
    model: str,
    messages: Sequence[Message],
    schema: dict[str, Any] | None = None,
    bounds: Bounds = UNBOUNDED,
) -> Iterator[str | Answer]:
    """Ask as `ask` does, and yield the answer's text piece by piece as it comes; last of all the whole `Answer`.

    Time is charged piece by piece: as the endpoint reports it (``timings`` in a chunk, as llama.cpp's server does), else
    as it is measured. An answer that ends early has the finish reason "length".
    """
    options = {**_options(model, messages, bounds), "stream": True, "stream_options": {"include_usage": True}}
    yield from _asked(client, options, schema, bounds)


def converse(
    client: Any,
    model: str,
    messages: Sequence[Message],
    tools: Sequence[dict[str, Any]],
    bounds: Bounds = UNBOUNDED,
) -> Answer:
    """Ask `model` as `ask` does, and offer it `tools`, each a function's schema (`schemas.function_schema`)."""
    options = _options(model, messages, bounds)
    return _last(_asked(client, {**options, "tools": list(tools)} if tools else options, None, bounds, calls=True))


def read_answer(body: bytes) -> tuple[Answer, tuple[int, int]]:
    """Read the whole body of an answer: the answer, and its tokens read and written (0: not reported)."""
    reading = Reading()
    for sent in objects([body], "application/json"):
        reading.add(sent)
    return reading.answer(calls=True), (reading.tokens[0] or 0, reading.tokens[1] or 0)


def _options(model: str, messages: Sequence[Message], bounds: Bounds) -> dict[str, Any]:
    sent = list(messages) if bounds.max_prompt is None else fitted(messages, bounds.max_prompt)
    options: dict[str, Any] = {"model": model, "messages": sent, "temperature": 0}
    if bounds.max_tokens is not None:
        options["max_tokens"] = bounds.max_tokens
    return options


def _last(parts: Iterator[str | Answer]) -> Answer:
    *_, answer = parts
    assert isinstance(answer, Answer)
    return answer


# The ways to ask for JSON, the strictest first. If the endpoint rejects one, the kit tries the next.
_FORMATS = ("json_schema", "json_object", "no response_format")
_rejected: WeakKeyDictionary[Any, int] = WeakKeyDictionary()  # how many of them a client's endpoint has rejected
_ABOUT_FORMAT = re.compile(r"response.?format|json.?(schema|object|mode)|structured.?output|guided|grammar", re.I)


def _asked(
    client: Any, options: dict[str, Any], schema: dict[str, Any] | None, bounds: Bounds, *, calls: bool = False
) -> Iterator[str | Answer]:
    """Ask for JSON in the strictest way that the endpoint supports, and remember that way for this client."""
    way = 0 if schema is None else _formats_rejected_by(client)
    retries = 0 if "stream" in options else getattr(client, "max_retries", 0)
    rejection: Exception | None = None  # the first one: it tells most about the request as it was meant
    while True:
        asked, note = options, ""
        if schema is not None:
            asked = _with_schema(options, schema, _FORMATS[way])
            note = f"the endpoint rejects {' and '.join(_FORMATS[:way])}; the schema is in the prompt" if way else ""
        parts = _answered(client, asked, note, _Limits.of(client, bounds), calls)
        try:
            first = next(parts)
        except Exception as error:
            if retries and type(error).__module__.startswith("httpx"):  # the connection broke after the headers came
                retries -= 1
            elif schema is not None and way + 1 < len(_FORMATS) and _ABOUT_FORMAT.search(_reported(error)):
                way, rejection = way + 1, rejection or error
            elif rejection is not None:
                raise rejection from None
            else:
                raise
            continue
        if way:
            with suppress(TypeError):  # not every stand-in for a client can be remembered
                _rejected[client] = way
        yield first
        yield from parts
        return


def _formats_rejected_by(client: Any) -> int:
    try:
        return _rejected.get(client, 0)
    except TypeError:
        return 0


def _reported(error: Exception) -> str:
    """Return the endpoint's words about a request that it rejects, under an error's status or under status 200."""
    if isinstance(error, AnswerError):
        return error.reported
    return f"{error} {getattr(error, 'param', '')}" if hasattr(error, "status_code") else ""


def _with_schema(options: dict[str, Any], schema: dict[str, Any], way: str) -> dict[str, Any]:
    if way == "json_schema":
        shape = {"name": "answer", "strict": True, "schema": schema}
        return {**options, "response_format": {"type": way, way: shape}}
    told = f"\n\nAnswer with one JSON object that fits this JSON schema:\n{json.dumps(schema, ensure_ascii=False)}"
    system, *rest = options["messages"]
    changed = {**options, "messages": [{**system, "content": (system["content"] or "") + told}, *rest]}
    return {**changed, "response_format": {"type": way}} if way == "json_object" else changed


class _Limits(NamedTuple):
    """Limits of one answer: characters, bytes, seconds in all, seconds without a word (None: no limit)."""

    characters: int
    bytes: int
    seconds: float | None
    silence: float | None

    @classmethod
    def of(cls, client: Any, bounds: Bounds) -> _Limits:
        tokens = bounds.max_tokens or _MOST_TOKENS
        timeout = getattr(client, "timeout", None)
        silence = getattr(timeout, "read", timeout)
        most = tokens * _BYTES_PER_TOKEN + _BYTES_OF_A_FRAME
        known = silence if isinstance(silence, int | float) else None
        return cls(tokens * CHARACTERS_PER_TOKEN, most, _seconds_left(), known)

    def check(self, began: float, spoke: float) -> None:
        """Raise `TimeoutError` if the answer takes too long; it began, and last sent a word, at these times."""
        now = perf_counter()
        if self.seconds is not None and now - began > self.seconds:
            raise self.over()
        if self.silence is not None and now - spoke > self.silence:
            raise TimeoutError(
                f"the endpoint sent no word of an answer for {self.silence:g} s; check it, or give the client a longer timeout"
            )

    def over(self) -> TimeoutError:
        """The error of an answer that takes longer than its job may."""
        return TimeoutError(
            f"the model's answer was not finished after {self.seconds:.3g} s, when the time of its job was over; "
            "allow a later deadline, more seconds in the budget, or a longer timeout"
        )


def _seconds_left() -> float | None:
    """Real seconds until the current job is given up or has used up the run's seconds; None: no bound."""
    meter = current.get()
    if meter is None:
        return None
    virtual = meter.at is not None
    spent = meter.seconds if virtual else perf_counter() - meter.began
    budget = meter.context.budget
    allowed = None if budget is None else budget.seconds
    left = [bound for bound in (meter.left, None if allowed is None else allowed - spent) if bound is not None]
    if not left:
        return None
    return max(min(left), _LEAST_ON_A_VIRTUAL_CLOCK if virtual else 0.0)


def _answered(client: Any, options: dict[str, Any], note: str, limits: _Limits, calls: bool) -> Iterator[str | Answer]:
    """Send one request; yield the text of its answer piece by piece, and last of all the whole `Answer`."""
    if limits.seconds == 0:
        raise TimeoutError("no time is left to ask a model; allow a later deadline, or more seconds in the budget")
    if (meter := current.get()) is not None:
        meter.check_model_call()
    streams, charged = "stream" in options, 0.0
    reading, thoughts, began = Reading(), ThoughtFilter(), perf_counter()
    spoke = began
    with _sent(client, options, limits) as response:
        for sent in objects(_bounded(response.iter_bytes(), limits.bytes), response.headers.get("content-type", "")):
            limits.check(began, spoke)
            piece = reading.add(sent) if sent else ""
            spoke = perf_counter() if sent.get("choices") else spoke
            if streams and sent:
                seconds = _milliseconds(_in(sent, "timings", "predicted_ms"))
                seconds = perf_counter() - began if seconds is None else seconds
                charge(max(0.0, seconds - charged))
                charged = max(charged, seconds)
            if piece := thoughts.feed(piece):
                yield piece
            if reading.characters > limits.characters:
                reading.cut_off(limits.characters)
                break
        if not streams:
            reported = _milliseconds(response.headers.get("openai-processing-ms"))
            charged = perf_counter() - began if reported is None else reported
            charge(charged)
    read, written = reading.tokens
    unknown = "the endpoint reports no tokens" if read is None or written is None else ""
    notes = "; ".join(filter(None, (note, unknown)))
    charge(0.0, ModelCall(options["model"], read or 0, written or 0, charged, notes))
    yield reading.answer(calls=calls)


def _bounded(parts: Iterator[bytes], most: int) -> Iterator[bytes]:
    """Yield `parts` as long as they have at most `most` bytes together. Raises `AnswerError` for more."""
    for part in parts:
        most -= len(part)
        if most < 0:
            raise AnswerError("the endpoint's answer is far longer than max_tokens allows; it was not read to its end")
        yield part


def _in(sent: dict[str, Any], name: str, part: str) -> Any:
    inner = sent.get(name)
    return inner.get(part) if isinstance(inner, dict) else None


def _milliseconds(reported: Any) -> float | None:
    """Return reported milliseconds as seconds, or None if the report is not a number from zero."""
    try:
        seconds = float(reported) / 1000
    except (TypeError, ValueError, OverflowError):
        return None
    return seconds if 0 <= seconds < 1e9 else None


_REASONS = re.compile(r"(.*/)?(o[1-9]|gpt-5)")  # models that think before they answer
# What an endpoint may not support, and what is sent instead; `strict` is part of each tool.
_ELSE: dict[str, str | None] = {
    "temperature": None,
    "max_tokens": "max_completion_tokens",
    "stream_options": None,
    "strict": None,
}


@contextmanager
def _sent(client: Any, options: dict[str, Any], limits: _Limits) -> Iterator[Any]:
    """Send the request and yield the unread response. Rename or leave out each parameter that the endpoint does not support."""
    if limits.seconds is not None:
        options = {**options, "timeout": _timeout(client, limits.seconds)}
    if _REASONS.match(options["model"]):
        options = _without(options, "temperature", "max_tokens")
    with ExitStack() as opened:
        while True:
            try:
                create = client.chat.completions.with_streaming_response.create
                manager = create(**options)
                response = _opened(manager, limits)
                opened.push(manager)
                break
            except Exception as error:
                if words := words_of(getattr(error, "body", None)):
                    error.args = (str(error) if words in str(error) else f"{error}: {words}",)
                if not (unsupported := _unsupported(error, options)):
                    raise
                options = _without(options, *unsupported)
        yield response


def _opened(manager: Any, limits: _Limits) -> Any:
    """Enter `manager`, and give up when the time of the job is over: headers may drip in, and a client may wait to retry.

    An attempt that is given up goes on in a thread of its own, and closes what it opens.
    """
    if limits.seconds is None:
        return manager.__enter__()
    attempt: Future[Any] = Future()

    def enter() -> None:
        try:
            response = manager.__enter__()
        except BaseException as error:
            attempt.set_exception(error)
            return
        attempt.set_result(response)
        if given_up:
            manager.__exit__(None, None, None)

    given_up: list[bool] = []
    try:
        Thread(target=copy_context().run, args=(enter,), name="planexec_lite asks a model", daemon=True).start()
    except RuntimeError:  # in a browser tab there are no threads
        return manager.__enter__()
    wait([attempt], limits.seconds)
    if not attempt.done():
        given_up.append(True)
        raise limits.over()
    return attempt.result()


def _timeout(client: Any, seconds: float) -> Any:
    """The client's own timeout, but none of its parts longer than `seconds`."""
    own: Any = getattr(client, "timeout", None)
    if hasattr(own, "as_dict"):
        parts = {name: seconds if part is None else min(part, seconds) for name, part in own.as_dict().items()}
        return type(own)(**parts)
    return min(own, seconds) if isinstance(own, int | float) else seconds


def _unsupported(error: Exception, options: dict[str, Any]) -> list[str]:
    """Return the parameters that the endpoint does not support, by its own words."""
    if getattr(error, "status_code", None) not in (400, 422):
        return []
    param, body = getattr(error, "param", None), getattr(error, "body", None)
    details = body.get("detail") if isinstance(body, dict) else None
    listed = [one.get("loc") for one in details if isinstance(one, dict)] if isinstance(details, list) else []
    named = {part for place in listed if isinstance(place, list) for part in place if isinstance(part, str)}
    named |= {param} if param else {name for name in _ELSE if f"'{name}'" in str(error)}
    sent = {*options, *(name for tool in options.get("tools", ()) for name in tool["function"])}
    return [name for name in _ELSE if name in sent and name in named]


def _without(options: dict[str, Any], *names: str) -> dict[str, Any]:
    changed = {name: value for name, value in options.items() if name not in names}
    if "strict" in names:
        functions = [
            {name: part for name, part in tool["function"].items() if name != "strict"} for tool in options["tools"]
        ]
        changed["tools"] = [{"type": "function", "function": function} for function in functions]
    return changed | {other: options[name] for name in names if name in options and (other := _ELSE[name])}
