"""Finds secrets in a request and its answer, and removes them before anything is written.

Headers are never written. A header outside the list of harmless headers counts as a secret, and so does a field of the body with
a name such as `api_key`, and a part of the address that is no known route. Every occurrence of a secret is removed.
"""

from __future__ import annotations

import json
import re
from base64 import b64decode
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple
from urllib.parse import quote, quote_plus, unquote

from planexec_lite.model.echoes import BLOT, parts_of, without_echoes

SHORTEST = 6  # characters; a shorter text is no key, and removing it everywhere would remove words
_HARMLESS = re.compile(
    "accept(-encoding|-language)?|age|alt-svc|cache-control|cf-cache-status|connection|content-(encoding|length|type)|date|"
    "host|openai-(beta|processing-ms|version)|retry-after(-ms)?|server|strict-transport-security|transfer-encoding|"
    "user-agent|vary|via|x-content-type-options|x-ratelimit-(limit|remaining|reset)-(requests|tokens)|x-request-id|"
    "x-should-retry|x-stainless-(arch|async|helper-method|lang|os|package-version|raw-response|read-timeout|retry-count|"
    "runtime|runtime-version|timeout)",
    re.IGNORECASE,
)
_FIELD = re.compile(
    r"(?:^|[^a-z])(?:access_?code|auth|authorization|bearer|connection_?string|cookie|credential|dsn|headers|jwt|otp|pass|passcode"
    r"|passphrase|passwd|pin|pwd|session|sig|signature|[a-z]*password|[a-z]*secret|[a-z]*token|[a-z]*key)(s?)(?:$|[^a-z])"
)
_IN_WORDS = re.compile(  # "Bearer abc123", "api_key: abc123", a key of a known shape
    r"""(\bbearer\s+|\b(?:api[\s_-]?key|passcode|password|secret|token)["']?(?:\s+is\s+|\s*[:=]\s*)["']?)?"""
    r"(?<![\w-])(?(1)(?=[^\s\"',;{]*\d)[^\s\"',;]{6,}|(?:gh[pousr]_|sk-|xox[abprs]-|AKIA)[\w-]{12,})",
    re.IGNORECASE,
)
_NO_SECRET_FIELDS = ("prompt_cache_key",)
_NO_SECRET_QUERY = ("api-version",)
_SCHEMA = ("$defs", "definitions", "properties")  # the names in them are names of parameters
_ROUTES = frozenset(
    "assistants audio batches cancel chat completions compact containers content conversations edits embeddings evals files"
    " fine_tuning generations images input_items items jobs messages models moderations realtime responses runs search speech"
    " threads transcriptions translations uploads variations vector_stores videos".split()
)
_REFERENCE = re.compile(r'\{[^{}"]*\}')  # to the result of a step
_WORD = re.compile("[a-z]+([-_][a-z]+)*")
_QUERY = re.compile(r"""(?<=[?&])([^=&\s?"']+)=([^&\s"'<>]+)""")
_USERINFO = re.compile(r"(?<=://)[^/\s@?#]+(?=@)")


def route(path: str) -> str:
    """Return what is kept of an address: its known route, such as "/v1/chat/completions"; other parts become `BLOT`."""
    parts = path.split("/")
    start = _start(parts)
    known = [part if part in _ROUTES else BLOT for part in parts[start:]]
    version = ["v1"] if parts[max(start - 1, 0)] == "v1" else []
    return "/" + "/".join(version + known)


def _start(parts: list[str]) -> int:
    return next((number for number, part in enumerate(parts) if part in _ROUTES), len(parts))


def of_request(request: Any) -> set[str]:
    """Return the secrets of a request's headers and address."""
    query = [value for name, value in request.url.params.multi_items() if name.casefold() not in _NO_SECRET_QUERY]
    parts = request.url.path.split("/")
    around = [part for part in parts if part not in _ROUTES and not (_WORD.fullmatch(part) and len(part) < 20)]
    return of_headers(request.headers) | _spelled([*query, *around])


def of_headers(headers: Any) -> set[str]:
    """Return the secrets of headers: the values of all that are not harmless, and the parts of these values."""
    values: list[str] = []
    for name, value in headers.multi_items():
        if _HARMLESS.fullmatch(name):
            continue
        pairs = value.partition(";")[:1] if name.casefold() == "set-cookie" else re.split("[;,] *", value)
        scheme, _, credentials = value.partition(" ")
        values += [value, credentials, *(pair.partition("=")[2] for pair in pairs)]
        if scheme.casefold() == "basic":
            values += _unpacked(credentials)
    return _spelled(values)


def of_body(body: Any) -> set[str]:
    """Return the values of the fields of a body that are named like secrets."""
    return _spelled(_named(body, secret=False))


def _named(value: Any, secret: bool, around: str = "") -> Iterator[str]:
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _named(part, _is_secret(name, part, around, secret), name)
    elif isinstance(value, list):
        for part in value:
            yield from _named(part, secret, around)
    elif isinstance(value, str) and not _REFERENCE.fullmatch(value):
        if secret:
            yield value
        else:  # the text of a conversation has words under such names, too: here a key has a digit and no blank
            inner = _named(_parsed(value), secret, around)
            yield from (one for one in inner if " " not in one and any(map(str.isdigit, one)))


class _Secrets(NamedTuple):
    """Secrets, the longest first, and their parts (see `parts_of`)."""

    whole: list[str]
    parts: frozenset[str]


def without(value: Any, secrets: Iterable[str], kept: str = "") -> Any:
    """Return a JSON value without secrets, in fields with such names and elsewhere. A text in `kept` is no secret."""
    whole = sorted((secret for secret in secrets if secret not in kept), key=len, reverse=True)
    return _without(value, _Secrets(whole, parts_of(whole) - parts_of([kept])), secret=False)


def _without(value: Any, secrets: _Secrets, secret: bool, around: str = "") -> Any:
    if isinstance(value, dict):
        return {
            _text(name, secrets): _without(part, secrets, _is_secret(name, part, around, secret), name)
            for name, part in value.items()
        }
    if isinstance(value, list):
        return [_without(part, secrets, secret, around) for part in value]
    if isinstance(value, str):
        return BLOT if secret and value and not _REFERENCE.fullmatch(value) else _text(value, secrets)
    return BLOT if secret and type(value) in (int, float) else value


def _is_secret(name: str, value: Any, around: str = "", inside: bool = False) -> bool:
    """Whether a field is named like a secret; `inside`: it is inside one."""
    if name in _NO_SECRET_FIELDS or (around in _SCHEMA and isinstance(value, dict)):
        return False
    if inside:
        return not (around == "headers" and _HARMLESS.fullmatch(name))
    words = re.sub("(?<=[a-z0-9])(?=[A-Z])", "_", name).casefold()
    match = _FIELD.search(words)
    number = isinstance(value, int | float)  # "max_tokens" and "token_count" are numbers, and no secrets
    return match is not None and not (number and (match[1] or match.end() < len(words)))


def _text(text: str, secrets: _Secrets) -> str:
    """A text without secrets; one that is JSON itself, as the arguments of a call, field by field."""
    inner = _parsed(text)
    clean = _without(inner, secrets, secret=False)
    text = text if clean == inner else json.dumps(clean, ensure_ascii=False)
    for secret in secrets.whole:
        text = _cut_off(text.replace(secret, BLOT), secret)
    text = _QUERY.sub(lambda pair: f"{pair[1]}={BLOT if _is_secret(pair[1], '') else pair[2]}", text)
    text = _IN_WORDS.sub(lambda match: f"{match[1] or ''}{BLOT}", text)
    return without_echoes(_USERINFO.sub(BLOT, text), secrets.parts)


def _cut_off(text: str, secret: str) -> str:
    """Return a text without the beginning of a secret at its end, because an answer can be cut inside a secret."""
    longest = min(len(secret) - 1, len(text))
    length = next((one for one in range(longest, SHORTEST - 1, -1) if text.endswith(secret[:one])), 0)
    return text[:-length] + BLOT if length else text


def _parsed(text: str) -> Any:
    """The object or list that a text is as JSON; None for other texts."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _spelled(values: Iterable[str]) -> set[str]:
    """The values that are long enough, as they occur in a text, in an address, and in JSON."""
    spelled = {
        written
        for value in values
        for written in (
            value, quote(value, safe=""), quote_plus(value), unquote(value),
            json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1],
        )
    }  # fmt: skip
    return {value for value in spelled if len(value) >= SHORTEST}


def _unpacked(basic: str) -> list[str]:
    """The name and password of HTTP's Basic scheme, and the password alone."""
    try:
        both = b64decode(basic).decode()
    except ValueError:
        return []
    return [both, both.partition(":")[2]]
