"""The line between the process that judges and the process that runs an answer.

The judge calls the learner's functions over this line, and the answer calls back the planners, tools and models that it was
given. What comes from the answer is read as plain data, values of the kit (built again by their own constructors), and
references to objects of the answer. So an answer can return anything, but it can't put code, or an object whose `==` lies,
into the process that writes the verdict.
"""

from __future__ import annotations

import copyreg
import io
import json
import pickle
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from decimal import Decimal
from numbers import Integral, Real
from types import BuiltinFunctionType, FunctionType, GeneratorType, MethodType, ModuleType
from typing import Any

from planexec_lite import Tool
from pydantic import BaseModel, ValidationError

from exercises.checker.checks import hashes
from exercises.checker.exercise import shown
from exercises.checker.guard import Stop, TimeUp, guarded

LONGEST = 8_000_000  # bytes of a message
KIT = ("planexec_lite", "planexec_lab", "mock_llm")
VALUES = (*KIT, "exercises.checker.checks")  # the packages whose models can come back as values
FORWARDED = ("__call__", "__getitem__", "__iter__", "__next__", "__len__", "__contains__", "__enter__", "__exit__")


class Lost(Exception):
    """The other process has ended, or sent something that is no message."""


class Remote:
    """An object of the other process; its class defines the special methods that the object has."""

    def __init__(self, line: Line, number: int, name: str, text: str, source: str = "") -> None:
        self._line, self._number, self._text = line, number, text
        self.__name__, self.source = name, source

    def __repr__(self) -> str:
        return self._text

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return self._line.ask("get", self._number, name, [], {})


def _forward(name: str) -> Callable[..., Any]:
    method = "" if name == "__call__" else name
    return lambda self, *args, **named: self._line.ask("call", self._number, method, [*args], named)


def _remote(methods: list[str]) -> type[Remote]:
    return type("Remote", (Remote,), {name: _forward(name) for name in methods if name in FORWARDED})


class Line:
    """One end of the line; each request is answered before the next one of the same side."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._lock = end, threading.RLock()
        self._shared: list[Any] = []
        self._numbers: dict[int, int] = {}  # of the shared objects, by their identity
        self._received, self.lost = b"", False

    def ask(self, kind: str, number: int, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """Send a request, answer those of the other side meanwhile, and return the value or raise the error."""
        with self._lock:
            self._send([kind, number, name, args, named])
            while True:
                kind, *rest = self._receive()
                if kind == "value":
                    return rest[0]
                if kind == "raised":
                    raise rest[0]
                self._send(self.answer(kind, *rest))

    def answer(self, kind: str, number: int, name: str, args: list[Any], named: dict[str, Any]) -> list[Any]:
        """Answer a request of the other side."""
        try:
            if name.startswith("_") and name not in FORWARDED:
                raise AttributeError(name)
            target = getattr(self._shared[number], name) if name else self._shared[number]
            return ["value", target(*args, **named) if kind == "call" else target]
        except BaseException as error:
            return ["raised", error]

    def share(self, value: Any) -> int:
        """Return the number under which the other side can name an object of this side."""
        number = self._numbers.setdefault(id(value), len(self._shared))
        if number == len(self._shared):
            self._shared.append(value)
        return number

    def _send(self, message: list[Any]) -> None:
        content = self.encoded(message)
        with self._or_lost():
            self._end.sendall(len(content).to_bytes(4, "big") + content)

    def _receive(self) -> list[Any]:
        with self._or_lost():
            length = int.from_bytes(self._bytes(4), "big")
            if length > LONGEST:
                raise ValueError(f"a message of {length:,} bytes")
            return self.decoded(self._bytes(length))

    @contextmanager
    def _or_lost(self) -> Iterator[None]:
        try:
            yield
        except (OSError, ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
            self.lost = True
            raise Lost(f"{type(problem).__name__}: {problem}") from None

    def _bytes(self, count: int) -> bytes:
        while len(self._received) < count:
            part = self._end.recv(65536)
            if not part:
                raise ConnectionError("the process has ended")
            self._received += part
        content, self._received = self._received[:count], self._received[count:]
        return content

    def encoded(self, message: list[Any]) -> bytes:
        """Return a message as bytes."""
        raise NotImplementedError

    def decoded(self, content: bytes) -> list[Any]:
        """Return the message of the other side."""
        raise NotImplementedError


class Judging(Line):
    """The judge's end: it sends pickles, and reads data. `source` is the cell of the answer."""

    def __init__(self, end: socket.socket, source: str) -> None:
        super().__init__(end)
        self.source = source
        self._stopped: Stop | None = None

    def first(self) -> Any:
        """Return what the answer's process says after the cell."""
        return self._receive()

    def ask(self, kind: str, number: int, name: str, args: list[Any], named: dict[str, Any]) -> Any:
        """Ask; arguments that the answer changed are changed here too, and the answer can't swallow a verdict."""
        try:
            value, *changed = super().ask(kind, number, name, [hashes.process, *args], named)
        finally:
            if self._stopped is not None:
                stopped, self._stopped = self._stopped, None
                raise stopped
        for place, now in changed:
            _become(args[place], now)
        return value

    def answer(self, kind: str, number: int, name: str, args: list[Any], named: dict[str, Any]) -> list[Any]:
        """Answer, and keep a verdict that was reached meanwhile."""
        answer = super().answer(kind, number, name, args, named)
        if isinstance(answer[1], Stop):
            self._stopped = answer[1]
        return answer

    def encoded(self, message: list[Any]) -> bytes:
        """Return a pickle in which functions, and objects with a life of their own, are references."""
        pickler = _Pickler(content := io.BytesIO(), self)
        pickler.dump(message)
        return content.getvalue()

    def decoded(self, content: bytes) -> list[Any]:
        """Return a message of the answer's process."""
        message = self._read(json.loads(content))
        if not isinstance(message, list) or not message:
            raise ValueError("no message")
        return message

    def _read(self, data: Any) -> Any:
        if not isinstance(data, list):
            return data
        kind, *parts = data
        match kind:
            case "list" | "tuple" | "set" | "frozenset":
                made = {"list": list, "tuple": tuple, "set": set, "frozenset": frozenset}[kind]
                return made(map(self._read, parts))
            case "dict":
                return {self._read(key): self._read(value) for key, value in parts}
            case "bytes":
                return bytes.fromhex(parts[0])
            case "yours":
                return self._shared[parts[0]]
            case "mine":
                number, name, text, methods = parts
                return _remote(methods)(self, int(number), str(name), str(text), self.source)
            case "class":
                return _exception(*parts)
            case "error":
                return self._error(*parts)
        return self._value(*parts)

    def _value(self, module: str, name: str, given: list[list[Any]]) -> Any:
        """Build a value of the kit again."""
        made = _class(module, name)
        if made is None or not _is_value(made):
            raise ValueError(f"{module}.{name} is no value")
        return made(**{field: self._read(value) for field, value in given})

    def _error(self, module: str, name: str, own: str, args: list[Any], more: Any, where: str) -> BaseException:
        base = _exception(module, name)
        made = base if own == name else type(own, (base,), {})
        error = made.__new__(made, *self._read(args))
        error.args = tuple(self._read(args))
        for attribute, value in self._read(more).items():
            setattr(error, attribute, value)
        error.where = where  # type: ignore[attr-defined]
        return error


class Answering(Line):
    """The answer's end: it sends data, and reads pickles; each call has `seconds` of CPU time."""

    def __init__(self, end: socket.socket, seconds: float, where: Callable[[BaseException], str]) -> None:
        super().__init__(end)
        self.seconds, self.where, self._deep = seconds, where, 0

    def serve(self, first: Any) -> None:
        """Send what there is to say first, then answer until the judge has ended."""
        self._send([first])
        while True:
            self._send(self.answer(*self._receive()))

    def answer(self, kind: str, number: int, name: str, args: list[Any], named: dict[str, Any]) -> list[Any]:
        """Call the answer; say which arguments it changed."""
        process, *args = args
        before = [self._data(one) if type(one) in (list, dict, set) else None for one in args]
        given, self._deep = super().answer, self._deep + 1
        work = lambda: given(kind, number, name, args, named)  # noqa: E731
        try:
            with hashes.in_process(process):
                if self._deep > 1:
                    came = work()
                else:
                    ended = guarded(work, self.seconds, ())
                    came = ended.value or ["raised", ended.error]
        finally:
            self._deep -= 1
        if came[0] == "raised":
            return list(came)
        now = [[place, one] for place, one in enumerate(args) if before[place] not in (None, self._data(one))]
        return ["value", [came[1], *now]]

    def encoded(self, message: list[Any]) -> bytes:
        """Return a message as JSON; a value that has no such form is sent as a reference."""
        return json.dumps(self._data(message)).encode()

    def _data(self, value: Any) -> Any:
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, str):
            return str.__str__(value)
        if isinstance(value, (Real, Decimal)):
            return int(value) if isinstance(value, Integral) else float(value)
        for kind in (list, tuple, set, frozenset):
            if isinstance(value, kind):
                return [kind.__name__, *map(self._data, kind.__iter__(value))]
        if isinstance(value, dict):
            return ["dict", *[[self._data(key), self._data(one)] for key, one in dict.items(value)]]
        if isinstance(value, bytes):
            return ["bytes", value.hex()]
        if isinstance(value, Remote):
            return ["yours", value._number]
        if isinstance(value, type) and issubclass(value, BaseException) and _class(value.__module__, value.__name__):
            return ["class", value.__module__, value.__name__]
        if isinstance(value, BaseException):
            return self._raised(value)
        if made := next((kind for kind in type(value).__mro__ if _is_value(kind)), None):
            return [
                "value",
                made.__module__,
                made.__name__,
                [[n, self._data(getattr(value, n))] for n in _fields(made)],
            ]
        methods = [name for name in FORWARDED if callable(getattr(type(value), name, None))]
        return ["mine", self.share(value), getattr(value, "__name__", ""), shown(value)[:2000], methods]

    def _raised(self, error: BaseException) -> list[Any]:
        if isinstance(error, TimeUp):
            return ["error", TimeUp.__module__, "TimeUp", "TimeUp", ["list", str(error)], ["dict"], ""]
        if (number := getattr(error, "_number", None)) is not None:
            return ["yours", number]
        base = next(kind for kind in type(error).__mro__ if _class(kind.__module__, kind.__name__) is kind)
        args = [one if type(one) in (str, int, float, bool) else str(one) for one in error.args]
        more = {name: value for name, value in vars(error).items() if not name.startswith("_")}
        own = [base.__module__, base.__name__, type(error).__name__, ["list", *args]]
        return ["error", *own, self._data(more), self.where(error)]

    def decoded(self, content: bytes) -> list[Any]:
        """Return a message of the judge."""
        return list(_Unpickler(io.BytesIO(content), self).load())


class _Pickler(pickle.Pickler):
    def __init__(self, content: io.BytesIO, line: Judging) -> None:
        super().__init__(content)
        self._judging = line

    def persistent_id(self, value: Any) -> Any:
        """Return the reference of what is not sent by value."""
        if isinstance(value, Remote):
            return "yours", value._number
        if isinstance(value, ValidationError):
            parts = ("type", "loc", "input", "ctx")
            faults = [{part: fault[part] for part in parts if part in fault} for fault in value.errors()]
            return "invalid", self._judging.share(value), value.title, faults
        if isinstance(value, BaseException):
            kinds = type(value).__mro__
            kind = next(one for one in kinds if _class(one.__module__, one.__name__) is one)
            args = value.args if all(type(one) in (str, int, float) for one in value.args) else (str(value),)
            return "error", self._judging.share(value), kind, args
        if not _by_reference(value):
            return None
        methods = [name for name in FORWARDED if callable(getattr(type(value), name, None))]
        name = getattr(value, "__name__", type(value).__name__)
        return "mine", self._judging.share(value), name, shown(value)[:2000], methods

    def reducer_override(self, value: Any) -> Any:
        """Send a tool whose function stays here by its attributes: its function is called over the line."""
        if isinstance(value, Tool) and _by_reference(value.function):
            return copyreg.__newobj__, (type(value),), dict(vars(value))  # type: ignore[attr-defined]
        return NotImplemented


class _Unpickler(pickle.Unpickler):
    def __init__(self, content: io.BytesIO, line: Answering) -> None:
        super().__init__(content)
        self._answering = line

    def persistent_load(self, reference: Any) -> Any:
        """Return the object of a reference."""
        kind, number, *more = reference
        if kind == "yours":
            return self._answering._shared[number]
        if kind == "invalid":
            return ValidationError.from_exception_data(*more)
        if kind == "error":
            made, args = more
            error = made.__new__(made, *args)
            error.args, error._number = args, number
            return error
        name, text, methods = more
        return _remote(methods)(self._answering, number, name, text)


def _by_reference(value: Any) -> bool:
    """Return whether the judge keeps a value on its side: functions of its own, and objects that are no data."""
    if isinstance(value, (FunctionType, BuiltinFunctionType)):
        module = sys.modules.get(value.__module__ or "")
        known = getattr(module, value.__name__, None) is value
        return not known or value.__module__.startswith("exercises")
    if isinstance(value, (MethodType, GeneratorType)):
        return True
    kind = type(value)
    if isinstance(value, (type, ModuleType, BaseModel, list, tuple, dict, set, str)):
        return False
    if kind.__module__.startswith("exercises"):
        return not (is_dataclass(kind) and kind.__dataclass_params__.frozen)  # type: ignore[attr-defined]
    return kind.__module__.partition(".")[0] in ("openai", "httpx", "mock_llm", "threading", "_thread", "functools")


def _is_value(kind: type) -> bool:
    """Return whether the values of a class are rebuilt from their fields."""
    if (
        not kind.__module__.startswith(VALUES)
        or getattr(sys.modules.get(kind.__module__), kind.__name__, None) is not kind
    ):
        return False
    frozen = is_dataclass(kind) and kind.__dataclass_params__.frozen  # type: ignore[attr-defined]
    return issubclass(kind, BaseModel) or (frozen and kind.__module__.startswith(KIT))


def _fields(kind: type) -> list[str]:
    if issubclass(kind, BaseModel):
        return list(kind.model_fields)
    return [one.name for one in fields(kind) if one.init]  # type: ignore[arg-type]


def _class(module: str, name: str) -> type | None:
    """Return a class of Python or of the kit that this process has imported."""
    if not module.startswith(("builtins", *KIT, "exercises.checker")):
        return None
    found = getattr(sys.modules.get(module), name, None)
    return found if isinstance(found, type) else None


def _exception(module: str, name: str) -> type[BaseException]:
    found = _class(module, name)
    if found is None or not issubclass(found, BaseException):
        raise ValueError(f"{module}.{name} is no exception")
    return found


def _become(value: Any, now: Any) -> None:
    """Give a container the content of another one of its type."""
    if type(value) is not type(now):
        return
    if isinstance(value, list):
        value[:] = now
    elif isinstance(value, (dict, set)):
        value.clear()
        value.update(now)
