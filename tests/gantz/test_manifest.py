"""A manifest is read word for word, and what is wrong with one is named with its place."""

from pathlib import Path

import pytest

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
    assert tools[2].runnable.text == 'psql mydb < "${gantz_value_1-}"'
    assert tools[1].runnable.text == tools[1].script.shell
    manifest = parsed(f"name: shop\ndescription: its tools\nversion: 1.0.0\ntools: [{ONE}]")
    assert (manifest.name, manifest.description, manifest.version) == ("shop", "its tools", "1.0.0")


ONE = "{name: a, description: b, script: {shell: ls}}"
BAD = {
    "tools: [": "is not valid YAML",
    "- a": "has no tools",
    "tools: []": "tools",
    "tool: []": "the key 'tool' is not read; did you mean 'tools'?",
    f"tools: [{ONE}]\nport: 80": "the key 'port' is not read",
    "tools: [{description: b, script: {shell: ls}}]": "tool number 1: the key 'name' is missing",
    "tools: [{name: a, script: {shell: ls}}]": "tool 'a': the key 'description' is missing",
    "tools: [{name: a, description: b}]": "tool 'a': the key 'script' is missing",
    "tools: [{name: a b, description: b, script: {shell: ls}}]": "tool 'a b': name",
    "tools: [{name: a, description: b, script: {command: ls}}]": "tool 'a': the key 'script.command' is not read",
    "tools: [{name: a, description: b, script: {shell: ''}}]": "tool 'a': script.shell",
    "tools: [{name: a, description: b, script: {shell: 3}}]": "tool 'a': script.shell",
    f"tools: [{ONE}, {ONE}]": "tool 'a': another tool is called so",
    "tools: [{name: a, description: b, parameters: [{name: x, type: text}], script: {shell: 'ls {{x}}'}}]": "'string'",
    "tools: [{name: a, description: b, parameters: [{name: x}, {name: x}], script: {shell: 'ls {{x}}'}}]": "same name",
    "tools: [{name: a, description: b, parameters: [{name: x, default: 1}], script: {shell: 'ls {{x}}'}}]": "is no string",
    "tools: [{name: a, description: b, parameters: [{name: x, type: integer, default: true}], script: {shell: 'ls {{x}}'}}]":
    "the default True is no integer",
    "tools: [{name: a, description: b, parameters: [{name: x, required: true, default: b}], script: {shell: 'ls {{x}}'}}]":
    "a required parameter has no default",
    "tools: [{name: a, description: b, parameters: [{name: x}], script: {shell: ls}}]": "tool 'a': the script never uses {{x}}",
    "tools: [{name: a, description: b, script: {shell: 'ls {{x}}'}}]": "tool 'a': the script names {{x}}",
    "tools: [{name: a, description: b, parameters: [{name: x}], script: {shell: 'sh -c {{x}}'}}]": "tool 'a': 'sh' can run what",
    "!!python/object/apply:os.system ['touch CANARY']": "is not valid YAML",
    "tools: &a [*a]": "tool number 1",
    "tools:\n- {name: a, description: b, script: {shell: ls},\n   script: {shell: rm}}":
    "the key 'script' occurs twice in a mapping, line 3",
    "tools: " + "9" * 5000: "is not valid YAML",
    "[" * 5000: "is not valid YAML",
    "version: !!bool maybe": "is not valid YAML",
    "version: !!int ''": "is not valid YAML",
    "version: !!timestamp foo": "is not valid YAML",
    "version: !!set [a]": "is not valid YAML",
}  # fmt: skip


@pytest.mark.parametrize(("text", "why"), BAD.items(), ids=list(BAD.values()))
def test_what_is_wrong_with_a_manifest_is_named(text: str, why: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(text)
    assert why in str(caught.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(f"""tools: [{ONE.replace("ls", "'ls {{x}}'")}, {ONE.replace("ls", "'ls {{y}}'")}]""")
    assert str(caught.value).count("\n- ") == 3


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
