"""A key that an endpoint repeats reaches no journal."""

from urllib.parse import quote

import pytest

from planexec_lite import Journal
from planexec_lite.model.asking import without_key
from tests.model.test_endpoints import chunks, client, planned, response

KEY = "sk-proj-Zq8Lm3Vb7/x2Kd9Wc4Rt6Yp1"
ECHOES = {
    "whole": KEY,
    "its end": KEY[3:],
    "its middle": KEY[7:19],
    "in capital letters": KEY.upper(),
    "in an address": quote(KEY, safe=""),
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
    for key in (KEY, "", "none", "the-deployment-of-the-project"):
        assert without_key(text, key) == text
