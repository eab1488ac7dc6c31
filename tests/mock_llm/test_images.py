"""Images in a conversation: accepted on both endpoints, and told apart by their hash."""

from __future__ import annotations

import base64
import hashlib
from typing import Any

import openai
import pytest

from mock_llm import MockLLM

CAT, DOG = b"\x89PNG a cat", b"\x89PNG a dog"
HASHES = {name: hashlib.sha256(data).hexdigest() for name, data in (("cat", CAT), ("dog", DOG))}
SCENES: list[dict[str, Any]] = [
    {"name": name, "when": {"image": whole[:12]}, "reply": {"text": f"A {name}."}} for name, whole in HASHES.items()
]


def url(data: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(data).decode()}"


def chat(*urls: str, role: str = "user") -> Any:
    parts = [{"type": "image_url", "image_url": {"url": one, "detail": "low"}} for one in urls]
    return {"model": "m", "messages": [{"role": role, "content": [{"type": "text", "text": "What is it?"}, *parts]}]}


def test_an_image_is_told_by_its_hash_on_both_endpoints() -> None:
    client = MockLLM(SCENES).client()
    assert client.chat.completions.create(**chat(url(CAT))).choices[0].message.content == "A cat."
    part: Any = {"type": "input_image", "image_url": url(DOG), "detail": "auto"}
    asked: Any = [{"role": "user", "content": [{"type": "input_text", "text": "What is it?"}, part]}]
    assert client.responses.create(model="m", input=asked).output_text == "A dog."


def test_an_unknown_image_is_shown_with_its_hash_to_paste() -> None:
    with pytest.raises(openai.UnprocessableEntityError) as caught:
        MockLLM(SCENES).client().chat.completions.create(**chat(url(b"a cow")))
    told = str(caught.value)
    assert f"the images shown: {hashlib.sha256(b'a cow').hexdigest()[:12]}" in told
    assert f"- {hashlib.sha256(b'a cow').hexdigest()[:12]}" in told
