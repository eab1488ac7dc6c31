"""A key that an endpoint repeats reaches no journal."""

from base64 import b64encode, urlsafe_b64encode
from urllib.parse import quote

import pytest

from planexec_lite import Journal
from planexec_lite.model.echoes import parts_of, without_echoes
from tests.model.test_endpoints import chunks, client, planned, response

KEY = "sk-proj-Zq8Lm3Vb7/x2Kd9Wc4Rt6Yp1"
ECHOES = {
    "whole": KEY,
    "its end": KEY[3:],
    "its middle": KEY[7:19],
    "in capital letters": KEY.upper(),
    "backwards": KEY[::-1],
    "in base64": b64encode(KEY.encode()).decode().rstrip("="),
    "in base64 with others": b64encode(f"Bearer {KEY}".encode()).decode(),
    "in base64 for URLs": urlsafe_b64encode(f"\xff?{KEY}".encode("latin-1")).decode(),
    "in base64 behind a slash": "id/" + b64encode(KEY.encode()).decode(),
    "in hexadecimal": KEY.encode().hex(),
    "in an address": quote(KEY, safe=""),
    "in an address, all escaped": "".join(f"%{ord(char):02x}" for char in KEY),
    "escaped as in JSON": "".join(f"\\u{ord(char):04x}" for char in KEY),
    "escaped as in HTML": "".join(f"&#{ord(char)};" for char in KEY),
}


@pytest.mark.parametrize("kind", ECHOES)
def test_an_echo_of_the_key_is_removed_from_every_error_of_the_endpoint(kind: str, journal: Journal) -> None:
    words = {"error": {"message": f"the key '{ECHOES[kind]}', is wrong"}}
    answers = response(words, 401), response(words), response(words["error"]["message"]), chunks({"choices": []}, words)
    for answer in answers:
        asked = client(lambda request, answer=answer: answer, api_key=KEY)  # type: ignore[misc]
        run = planned(asked, stream=answer is answers[-1], journal=journal)
        assert "[key]" in run.reason
    stored = b"".join(path.read_bytes() for path in journal.path.parent.iterdir() if path.is_file())
    assert ECHOES[kind].encode() not in stored


@pytest.mark.parametrize(
    "text",
    [
        "sk-proj-****Yp1",
        "the organization org-12345678",
        "on 2024-06-01",
        "gpt-4o-mini",
        "a deployment of the project",
        "x" * 99,
    ],
)
def test_other_words_stay(text: str) -> None:
    assert without_echoes(text, parts_of([KEY])) == text
    assert without_echoes(text, parts_of(["", "none", "the-deployment-of-the-project"])) == text
