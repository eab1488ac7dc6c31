"""Imports cassettes of vcrpy (and pytest-recording) with OpenAI's or Anthropic's API as scenes.

A cassette lists interactions, each a request and a response. Bodies are strings or bytes, sometimes compressed. Some
projects store them as YAML in `parsed_body`, and LangChain's cassettes have separate lists of requests and responses.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from mock_llm.api import endpoint
from mock_llm.script import ScriptError

from .recording import NotRecorded, Recording


def import_cassettes(cassettes: Sequence[Path], out: Path) -> tuple[int, list[str]]:
    """Add the interactions of cassettes to a script.

    Args:
        cassettes: YAML files, or YAML files compressed by gzip.
        out: the script file; scenes that it already contains stay.

    Returns:
        The number of new scenes, and a line about each interaction that is not in the script.

    Raises:
        ScriptError: a file is not a cassette, or `out` exists and is not a script.
        OSError: a file can't be read.
    """
    recording, notes = Recording(out), []
    for path in cassettes:
        for number, interaction in enumerate(_interactions(path), 1):
            try:
                _add(recording, *interaction)
            except (NotRecorded, LookupError, TypeError, AttributeError, ValueError, OSError, zlib.error) as error:
                problem = str(error) if isinstance(error, NotRecorded) else f"it can't be read: {error!r}"
                notes.append(f"{path.name}, interaction {number}: {problem}")
    return recording.added, notes


def _interactions(path: Path) -> Iterator[tuple[Any, Any]]:
    """Yield the requests and responses of a cassette; None in place of one that is missing."""
    data = path.read_bytes()
    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        cassette = yaml.load(gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data, loader)
    except (yaml.YAMLError, OSError, ValueError, RecursionError) as error:
        raise ScriptError(f"{path.name}: not a cassette: {error}") from None
    if isinstance(cassette, dict) and isinstance(listed := cassette.get("interactions"), list):
        entries = [entry if isinstance(entry, dict) else {} for entry in listed]
        yield from ((entry.get("request"), entry.get("response")) for entry in entries)
    elif isinstance(cassette, dict) and isinstance(cassette.get("requests"), list):
        yield from zip_longest(cassette["requests"], cassette.get("responses") or ())
    else:
        raise ScriptError(f"{path.name}: not a cassette: it has no list 'interactions'")


def _add(recording: Recording, request: Any, response: Any) -> None:
    if not (isinstance(request, Mapping) and isinstance(response, Mapping)):
        raise NotRecorded("its request or its response is missing")
    path = urlsplit(request["uri"]).path.rstrip("/")
    sent = {name.lower(): text if isinstance(text, str) else text[0] for name, text in request["headers"].items()}
    known = re.search("/(chat/completions|responses|messages)$", path)
    asked = endpoint(f"/v1{known[0]}", sent) if known else None
    status = response["status"]["code"] if "status" in response else response["status_code"]
    if request["method"] != "POST" or asked is None:
        raise NotRecorded(f"{request['method']} {path} is not a request to a model")
    if status >= 300:
        raise NotRecorded(f"the status is {status}; add a fault to a scene instead")
    recording.add(asked, json.loads(_body(request)), _body(response))


def _body(message: Mapping[str, Any]) -> bytes:
    """Return the body of a request or response."""
    if "parsed_body" in message:
        return json.dumps(message["parsed_body"]).encode()
    body = message["body"] if "body" in message else message["content"]
    body = body.get("string", "") if isinstance(body, dict) else body or ""
    data: bytes = body.encode() if isinstance(body, str) else body
    return gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
