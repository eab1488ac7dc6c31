"""A manifest is read word for word, and what is wrong with one is named with its place."""

from pathlib import Path

import pytest
import yaml

from planexec_lab import gantz
from planexec_lab.gantz import ManifestError, parsed, read
from planexec_lab.worlds import manifest as world
from planexec_lite import Decision, Plan, PlannerExecutor, ToolExecutor, execute

ARTICLE = [
    ("read_schema", "Read current database schema", "pg_dump --schema-only mydb"),
    ("backup_database", "Create database backup", "pg_dump mydb > backup_$(date +%Y%m%d).sql"),
    ("run_migration", "Execute a migration file", "psql mydb < {{file}}"),
    ("verify_integrity", "Check data integrity after migration", "python scripts/verify_data.py"),
]


def test_the_manifest_of_the_article_is_read_word_for_word() -> None:
    tools = read(Path(world.__file__).parent / "files" / "gantz.yaml").tools
    assert [(one.name, one.description, one.script.shell) for one in tools] == ARTICLE
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    file = {"properties": {"file": {"type": "string"}}, "required": ["file"]}
    assert [one.schema_of_arguments for one in tools[1:3]] == [closed, closed | file]
    assert tools[2].runnable.text == 'psql mydb < "${GANTZ_ARG_FILE-}"'
    assert tools[1].runnable.text == ARTICLE[1][2]
    manifest = parsed(f"name: shop\ndescription: its tools\nversion: 1.0.0\ntools: [{ONE}]")
    assert (manifest.name, manifest.description, manifest.version) == ("shop", "its tools", "1.0.0")


ONE = "{name: a, description: b, script: {shell: ls}}"
BAD = [
    *yaml.safe_load(Path(__file__).with_name("faults.yaml").read_text("utf-8")),
    [
        "at most 500 items",
        f"tools: [{{name: a, parameters: [{', '.join(['{name: x}'] * 501)}], script: {{shell: ls}}}}]",
    ],
    ["line 1: tools: Input should be a valid tuple", "tools: " + "9" * 5000],
    [
        "the default '[[[",
        f"tools: [{{name: a, parameters: [{{name: x, type: array, default: '{'[' * 2000}'}}], script: {{shell: ls}}}}]",
    ],
    ["nested too deep; write its text, line 2", "\n" + "[" * 5000],
    ["nested too deep; write its text, line 1", "{a: " * 5000],
]


@pytest.mark.parametrize(("why", "text"), BAD, ids=[why for why, _ in BAD])
def test_what_is_wrong_with_a_manifest_is_named(why: str, text: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(text)
    assert why in str(caught.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(
            f"""tools: [{ONE}, {ONE.replace("ls", "'ls {{y}}'")}, {ONE.replace("a,", "c,").replace("ls", "'ls {{z}}'")}]"""
        )
    assert str(caught.value).count("\n- ") == 3


def test_texts_are_read_as_written_and_values_by_their_type() -> None:
    parameters = """
      {name: s, default: 010}, {name: t, default: no}, {name: i, type: integer, default: "10"},
      {name: n, type: number, default: 0.50}, {name: b, type: boolean, default: "True"},
      {name: l, type: array, default: '["a"]'}, {name: o, type: object, default: {a: b}},
      {name: e, enum: [a, 1.0]}, {name: v, default: null, description: }, {name: r, required: yes, default: .}"""
    more = "environment: {A: 1.10, B: true, C: 0755}, script: {command: ls, args: ['{{s}}'], timeout: 90}"
    (tool,) = parsed(f"server: {{port: 3000}}\ntools: [{{name: a, parameters: [{parameters}], {more}}}]").tools
    defaults = {one.name: one.default for one in tool.parameters if one.default is not None}
    assert defaults == {"s": "010", "t": "no", "i": 10, "n": 0.5, "b": True, "l": ["a"], "o": {"a": "b"}, "r": "."}
    assert tool.schema_of_arguments["properties"]["e"] == {"type": "string", "enum": ["a", "1.0"]}
    assert tool.schema_of_arguments["properties"]["v"] == {"type": "string"}
    assert tool.schema_of_arguments["required"] == ["r"]
    assert (tool.environment, tool.script.timeout) == ({"A": "1.10", "B": "true", "C": "0755"}, 90.0)
    for text, seconds in {"1500ms": 1.5, "1m30s": 90.0, "1h": 3600.0, "0.5s": 0.5, "2": 2.0}.items():
        (tool,) = parsed(f"tools: [{{name: a, script: {{shell: ls, timeout: {text}}}}}]").tools
        assert tool.script.timeout == seconds


def test_every_kind_of_public_manifest_is_read() -> None:
    tools = read(Path(__file__).with_name("sample.yaml")).tools
    assert [tool.name for tool in tools if tool.runnable] == [tool.name for tool in tools]
    assert len(tools) == 11


def test_a_file_that_can_not_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe")
    (tmp_path / "long.yaml").write_text("#" * 1_000_002, encoding="utf-8")
    for name, why in {"none.yaml": "can't be read", "bytes.yaml": "can't be read", "long.yaml": "is longer"}.items():
        with pytest.raises(ManifestError, match=f"{name} {why}"):
            read(tmp_path / name)


def test_a_script_that_changed_between_the_yes_and_the_resume_is_refused(tmp_path: Path) -> None:
    text = "tools: [{name: deploy, description: Deploy, script: {shell: 'echo %s >> log'}}]"
    file, log = tmp_path / "gantz.yaml", tmp_path / "log"
    file.write_text(text % "deployed")
    plan = Plan.parse([{"id": "1", "tool": "deploy", "gate": True}])
    run = execute(plan, ToolExecutor(gantz.load(file)))
    file.write_text(text % "WIPED")
    with pytest.raises(ValueError, match="step 1: deploy is not the tool that the plan was made with"):
        PlannerExecutor(None, ToolExecutor(gantz.load(file))).resume(run, Decision("approve", by="Ada"))
    assert not log.exists()
