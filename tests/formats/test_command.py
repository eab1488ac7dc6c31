"""The command that writes a plan in another format."""

from pathlib import Path

import pytest

from planexec_lab import formats
from planexec_lab.formats.__main__ import main


def test_convert_writes_the_plan_in_another_format(tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    path = tmp_path / "plan.txt"
    path.write_text('Thought: look\n1. find("Ålesund")\nThought: say\n2. tell("$1")\n3. join()', encoding="utf-8")
    assert main(["convert", str(path), "--to", "mermaid"]) == 0
    written = capfdbinary.readouterr().out
    assert formats.read(written) == formats.read(path.read_bytes())
    assert main(["convert", str(path), "--from", "llmcompiler", "--to", "list", "--leave-out", "tool, params"]) == 0
    assert capfdbinary.readouterr().out == b"1. look\n2. say\n"


@pytest.mark.parametrize(
    ("text", "more", "message"),
    [
        ("hello", [], "line 1, 'hello', is like none of them"),
        ("1. wash\n2. dry", ["--from", "mermaid"], "line 1: this is no flowchart"),
        ('[{"id": 1, "tool": "pay", "gate": true}]', [], "no place for the gate of step 1"),
        ("1. wash", ["--leave-out", "gates"], "did you mean 'gate'"),
    ],
)
def test_convert_says_what_it_can_not_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, more: list[str], message: str
) -> None:
    path = tmp_path / "plan.txt"
    path.write_text(text, encoding="utf-8")
    assert main(["convert", str(path), "--to", "mermaid", *more]) == 1
    shown = capsys.readouterr()
    assert (message in shown.err, shown.out) == (True, "")
    assert main(["convert", str(tmp_path / "no.txt"), "--to", "dot"]) == 1
