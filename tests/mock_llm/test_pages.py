"""README.md and TESTING.md of mock_llm: their snippets and the project print what the pages say, and nothing is left out."""

import contextlib
import io
import os
import re
from pathlib import Path
from typing import Any, get_args

import openai
import pytest
import yaml

import mock_llm
from mock_llm import MockLLM, Reply, When
from mock_llm.__main__ import main
from mock_llm.pytest_plugin import SETTINGS
from mock_llm.script import Dialogue
from mock_llm.script.replies import KINDS
from mock_llm.types.faults import Kind
from tests.guards import books
from tests.guards.books import ROOT
from tests.guards.readme_rules import BLOCK, links

LOOPBACK = True
FOLDER = Path(mock_llm.__file__).parent
README, TESTING = ((FOLDER / name).read_text(encoding="utf-8") for name in ("README.md", "TESTING.md"))
NAMED = re.compile(r"# ([a-z_]+\.(?:py|yaml))\n")


@pytest.mark.parametrize(("page", "count"), [(README, 7), (TESTING, 2)], ids=["README.md", "TESTING.md"])
def test_every_snippet_runs_and_prints_what_it_promises(
    page: str, count: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    printed = io.StringIO()
    ran = 0
    for kind, text in BLOCK.findall(page):
        if NAMED.match(text) or text.startswith("FAILED "):
            continue  # the project of the page
        if kind == "yaml":
            Path("sums.yaml").write_text(text, encoding="utf-8")
            assert MockLLM.load("sums.yaml").scenes
        elif kind == "python":
            printed = io.StringIO()
            with contextlib.redirect_stdout(printed):
                exec(compile(text, "the page", "exec"), names)
            ran += 1
        elif kind == "text":
            assert printed.getvalue() == text
        else:
            assert kind in ("sh", "toml")
    assert ran >= count


def cells(row: str) -> list[str]:
    return [cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def table(heading: str) -> list[list[str]]:
    rows = README[README.index(f"\n| {heading} |") :].lstrip("\n").split("\n\n")[0].splitlines()
    return [cells(row) for row in rows[2:]]


def shown(client: openai.OpenAI, stream: bool) -> str:
    """What the client shows for a fault, in the words of the table."""
    try:
        response = client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}], stream=stream)
        if isinstance(response, str):
            return "a web page as `str`"
        chunks = list(response)
        if not chunks:
            return "an empty stream"
        assert isinstance(chunks[-1], openai.types.chat.ChatCompletionChunk)
        return "a stream without `finish_reason`" if chunks[-1].choices[0].finish_reason is None else "a whole stream"
    except openai.UnprocessableEntityError:
        return "refused"
    except (openai.APIError, ValueError) as error:
        return type(error).__name__


@pytest.mark.parametrize("served", [False, pytest.param(True, marks=pytest.mark.slow)])
def test_the_table_of_faults_is_what_the_client_shows(served: bool) -> None:
    rows = {kind.strip("`"): (plain, stream) for kind, plain, stream, _ in table("fault")}
    assert list(rows) == list(get_args(Kind))
    for kind, words in rows.items():
        llm = MockLLM([{"name": "one", "reply": {"text": "one two three four", "fault": kind}}])
        with llm.serve() as url:
            patience = 0.1 if kind in ("timeout", "slow_first_token") else 60
            over_http = openai.OpenAI(api_key="none", base_url=url, max_retries=0, timeout=patience)
            client = over_http if served else llm.client(max_retries=0, timeout=5)
            assert (shown(client, False), shown(client, True)) == words, kind


def test_the_page_counts_the_evidence() -> None:
    evidence = yaml.safe_load(Path(__file__).with_name("evidence.yaml").read_text(encoding="utf-8"))
    seen = [str(row["seen"]) for table in ("verdicts", "schemas", "limits") for row in evidence[table]]
    unknown, disputed = seen.count("not verified"), seen.count("disputed")
    assert f"{len(seen)} requests and schemas" in README
    words = f'shows {len(seen) - unknown - disputed} of them; {unknown} are marked "not verified", and {disputed} "disputed"'
    assert words in " ".join(README.split())


def test_every_condition_and_every_reply_is_on_the_page() -> None:
    conditions = " ".join(row[0] for row in table("condition"))
    assert [name for name in When.__dataclass_fields__ if f"{name}:" not in conditions] == []
    replies = " ".join(row[0] for row in table("reply"))
    assert [name for name in (*Reply.__dataclass_fields__, *KINDS) if f"`{name}" not in replies] == []


@pytest.mark.slow
def test_the_project_of_the_page_passes_and_fails_as_it_says(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    files = {name[1]: text for _, text in BLOCK.findall(TESTING) if (name := NAMED.match(text))}
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    paths = os.pathsep.join([str(books.NETWORK_CUT), str(folder)])
    options = ["-p", "no:cacheprovider", "-p", "no:xdist", "-rA", "--color=no"]
    done = books.run("-m", "pytest", *options, scratch=tmp_path, cwd=folder, PYTHONPATH=paths)
    (promised,) = [text for kind, text in BLOCK.findall(TESTING) if kind == "text" and text.startswith("FAILED ")]
    missing = [line for line in promised.splitlines() if line not in done.stdout]
    assert missing == [], done.stdout
    assert "4 passed" in done.stdout
    assert "1 failed" in done.stdout
    assert books.attempts(tmp_path) == ""


def test_every_word_and_every_switch_is_on_the_page() -> None:
    words = [name for name, value in vars(Dialogue).items() if callable(value) and not name.startswith("_")]
    assert [word for word in [*words, "when"] if f"`.{word}(" not in TESTING] == []
    for name, (_, choices) in SETTINGS.items():
        assert f"`mock_llm_{name}`" in TESTING
        assert all(f'{name}="{choice}"' in TESTING for choice in choices if choice != "fail")


def test_the_commands_are_those_of_the_distribution(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    known = capsys.readouterr().out
    named = re.findall(r"mock-llm (serve|check|record|\w+) ", TESTING)
    assert set(named) == {"serve", "check", "record", "import"}
    assert [name for name in named if name not in known] == []
    assert (ROOT / "distributions" / "mock-llm").is_dir()
    assert "./distributions/mock-llm[" in TESTING


def test_links_of_the_page_lead_somewhere() -> None:
    assert [link for link in links(TESTING) if not (FOLDER / link).exists()] == []
