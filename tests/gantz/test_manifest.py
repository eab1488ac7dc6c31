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
    assert [(one.name, one.description, one.script and one.script.shell) for one in tools] == ARTICLE
    closed = {"type": "object", "properties": {}, "required": [], "additionalProperties": False}
    file = {"properties": {"file": {"type": "string"}}, "required": ["file"]}
    assert [one.schema_of_arguments for one in tools[1:3]] == [closed, closed | file]
    assert tools[2].runnable.text == 'psql mydb < "${GANTZ_ARG_FILE-}"'
    assert tools[1].runnable.text == ARTICLE[1][2]
    manifest = parsed(f"name: shop\ndescription: its tools\nversion: 1.0.0\ntools: [{ONE}]")
    assert (manifest.name, manifest.description, manifest.version) == ("shop", "its tools", "1.0.0")


ONE = "{name: a, description: b, script: {shell: ls}}"
X = "tools: [{name: a, parameters: [{name: x%s}], script: {shell: 'ls {{x}}'}}]"
HTTP = "tools: [{name: a, parameters: [{name: x}], http: {url: 'https://example.org/', %s}}]"
BAD = {
    "tools: [": "is not valid YAML",
    "- a": "has no tools",
    "tools: []": "tools",
    "tool: []": "the file, line 1: the key 'tool' is not read; did you mean 'tools'?",
    f"tools: [{ONE}]\nport: 80": "the file, line 2: the key 'port' is not read",
    "tools: [{description: b, script: {shell: ls}}]": "tool number 1, line 1: the key 'name' is missing",
    "tools: [{name: a, description: b}]": "tool 'a', line 1: it needs one of the keys script and http",
    "tools:\n- name: a\n  http: {url: 'http://b'}\n  script: {shell: ls}": "tool 'a', line 2: it needs one of",
    "tools: [{name: a b, description: b, script: {shell: ls}}]": "tool 'a b', line 1: name",
    "tools:\n- name: a\n  script:\n    comand: ls": "tool 'a', line 4: the key 'script.comand' is not read; did you mean",
    "tools: [{name: a, script: {shell: ''}}]": "tool 'a', line 1: script: it needs one of the keys shell and command",
    "tools: [{name: a, script: {shell: ls, args: [b]}}]": "args belong to command",
    "tools: [{name: a, script: {command: 'ls{{x}}'}}]": "tool 'a', line 1: script.command",
    "tools: [{name: a, script: {command: sh, args: [-c, 'ls {{x}}']}}]": "tool 'a', line 1: 'sh' might run what",
    "tools: [{name: a, script: {command: cat, stdin: '{{x}}', working_dir: '{{x}}'}}]": "script.working_dir",
    "tools: [{name: a, script: {command: psql, stdin: '{{x}}'}}]": "'psql' reads a value, and might run it",
    "tools: [{name: a, script: {shell: ls, timeout: 5 minutes}}]": "script.timeout: '5 minutes' is no duration; write it as 30s",
    "tools: [{name: a, timeout: 5s, script: {shell: ls, timeout: 5s}}]": "it has two timeouts",
    "tools: [{name: a, environment: {B: '{{x}}'}, script: {shell: ls}}]": "environment.B",
    f"tools: [{ONE}, {ONE}]": "tool 'a', line 1: another tool is called so",
    X % ", type: text": "'string'",
    X % "}, {name: x": "two parameters have the same name",
    X % "}, {name: X": "the same variable",
    X % ", type: integer, default: true": "the default 'true' is no integer",
    X % ", type: number, default: 1_5": "the default '1_5' is no number",
    X % ", type: array, default: '{}'": "the default '{}' is no array",
    X % ", default: '${HOME}/a'": "write its value",
    "tools: [{name: a, parameters: [], script: {shell: 'ls {{x}}'}}]": "tool 'a', line 1: the script names {{x}}",
    "tools: [{name: a, parameters: [{name: x}], script: {shell: 'sh -c {{x}}'}}]": "tool 'a', line 1: 'sh' might run what",
    HTTP % "method: GET": "the request never uses {{x}}",
    HTTP % "headers: {A: '{{y}}'}": "{{y}}, which is not a parameter",
    HTTP % "headers: {'{{x}}': a}": "is fixed",
    HTTP % "body: '{{{x}}'": "a body with values is JSON",
    HTTP % "body: 'a={{x}}', headers: {content-type: text/plain}": "a body with values is JSON",
    **{HTTP.replace("https://example.org/", url) % "method: GET": "url begins with" for url in (
        "https://{{x}}/", "https://example.org{{x}}", "https://a@{{x}}", "https://{{x}}@a/", "file:///{{x}}", "{{x}}", "${A}{{x}}",
    )},
    "!!python/object/apply:os.system ['touch CANARY']": "has no tools",
    X % ("}, {name: x" * 500): "at most 500 items",
    "tools: &a [*a]": "is not valid YAML: an alias, such as *name, or nested too deep; write its text, line 1",
    "tools:\n- {name: a, description: b, script: {shell: ls},\n   script: {shell: rm}}":
    "the key 'script' occurs twice in a mapping, line 3",
    "tools: " + "9" * 5000: "the file, line 1: tools",
    "\n" + "[" * 5000: "nested too deep; write its text, line 2",
    "{a: " * 5000: "nested too deep; write its text, line 1",
}  # fmt: skip


@pytest.mark.parametrize(("text", "why"), BAD.items(), ids=list(BAD.values()))
def test_what_is_wrong_with_a_manifest_is_named(text: str, why: str) -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(text)
    assert why in str(caught.value)


def test_every_problem_is_told_at_once() -> None:
    with pytest.raises(ManifestError) as caught:
        parsed(f"""tools: [{ONE.replace("ls", "'. {{x}}'")}, {ONE.replace("ls", "'. {{y}}'")}]""")
    assert str(caught.value).count("\n- ") == 3


def test_texts_are_read_as_written_and_values_by_their_type() -> None:
    parameters = """
      {name: s, default: 010}, {name: t, default: no}, {name: i, type: integer, default: "10"},
      {name: n, type: number, default: 0.50}, {name: b, type: boolean, default: "True"},
      {name: l, type: array, default: '["a"]'}, {name: o, type: object, default: {a: b}},
      {name: e, enum: [a, 1.0]}, {name: v, default: null, description: }, {name: r, required: yes, default: .}"""
    more = "environment: {A: 1.10, B: true, C: 0755}, timeout: 90, script: {command: ls, args: ['{{s}}']}"
    (tool,) = parsed(f"server: {{port: 3000}}\ntools: [{{name: a, parameters: [{parameters}], {more}}}]").tools
    defaults = {one.name: one.default for one in tool.parameters if one.default is not None}
    assert defaults == {"s": "010", "t": "no", "i": 10, "n": 0.5, "b": True, "l": ["a"], "o": {"a": "b"}, "r": "."}
    assert tool.schema_of_arguments["properties"]["e"] == {"type": "string", "enum": ["a", "1.0"]}
    assert tool.schema_of_arguments["properties"]["v"] == {"type": "string"}
    assert tool.schema_of_arguments["required"] == ["r"]
    assert (tool.environment, tool.seconds) == ({"A": "1.10", "B": "true", "C": "0755"}, 90.0)
    for text, seconds in {"1500ms": 1.5, "1m30s": 90.0, "1h": 3600.0, "0.5s": 0.5, "2": 2.0}.items():
        (tool,) = parsed(f"tools: [{{name: a, script: {{shell: ls, timeout: {text}}}}}]").tools
        assert tool.seconds == seconds


def test_a_key_that_gantz_ignores_gives_a_warning_with_its_line() -> None:
    with pytest.warns(UserWarning, match="gantz.yaml, line 3: gantz ignores the key 'pool'"):
        parsed("tools:\n- name: a\n  pool: database\n  script: {shell: ls}", "gantz.yaml")


def test_a_tool_without_parameters_has_one_for_each_placeholder() -> None:
    (tool,) = parsed("tools: [{name: a, script: {shell: 'cat {{x}} > {{ y }}'}}]").tools
    assert tool.schema_of_arguments["required"] == ["x", "y"]


def test_every_kind_of_public_manifest_is_read() -> None:
    tools = read(Path(__file__).with_name("sample.yaml")).tools
    assert [tool.name for tool in tools if tool.runnable] == [tool.name for tool in tools]
    assert len(tools) == 30


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
