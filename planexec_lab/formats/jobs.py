"""Plans in YAML: the kit's own shape, and three kinds of files whose jobs name what they wait for.

The kinds are GitHub Actions (``jobs`` with ``needs``), Taskfile (``tasks`` with ``deps``) and dvc (``stages``, whose ``deps`` are
the ``outs`` of others). A job becomes a step in words; its commands and settings are left out and listed. A field that is not
known to leave the order, the number and the approval of steps as they are, such as ``if`` or a matrix, is a fault. Every other
kind of file is refused by its name.

A value without quotes is text unless JSON would write it in the same way: ``1.10``, ``yes`` and ``2026-01-01`` are texts. A comment
behind a value without a space, as in ``fix #12``, is left out and listed: it could be a part of the value.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from itertools import accumulate
from typing import Any

from pydantic_core import from_json

from planexec_lab.formats.others import MEND, problem_of
from planexec_lab.formats.shapes import fault, left_out, plain
from planexec_lab.formats.steps import LossyPlan, build, names_approval, with_gates
from planexec_lite.plan import Plan, Problem

_BEGINS = re.compile(r"(?:[ \t]*(?:#.*|---.*|%.*)?\n)*(?:- )?[\"']?[\w./@-]+[\"']?[ \t]*:(?:\s|$)")
_GROUP = re.compile(
    r"^(?:steps|tasks|plan|jobs|stages)[ \t]*:"
    r"(?:[ \t]*[\[{]|(?:[ \t]*(?:#.*)?\n)+(?:[ \t]*-[ \t]|[ \t]+(?![0-9]+[.)][ \t])\S.*?:(?:\s|$)))"
    r"|^- (?:id|tool|action|description)[ \t]*:",
    re.MULTILINE,
)
_COMMENT = re.compile(r":?[ \t]+(#[^\s#].*)")  # without a space behind the mark, as in "issue #12"
_MOST = 500_000  # characters
_DEEPEST = 100

_KINDS = {  # by the key of its jobs: a job's words and dependencies; the settings and the fields of a job that are left out
    "jobs": (
        ("name", "needs"),
        "run-name on permissions env defaults concurrency",
        "runs-on permissions env defaults outputs container services steps environment strategy timeout-minutes",
    ),
    "tasks": (
        ("desc", "deps"),
        "version output silent dotenv env vars set shopt interval method",
        "summary cmds cmd label aliases silent dir env vars dotenv sources generates method interactive internal set shopt "
        "failfast prefix prompt",
    ),
    "stages": (
        ("desc", "deps"),
        "params metrics plots artifacts datasets",
        "cmd outs metrics plots params meta always_changed",
    ),
}
_HARMLESS = {"fail-fast", "max-parallel"}  # of a strategy; a matrix makes several jobs of one

_ASKS = re.compile(  # a person, by the name of an action or in a command
    r"approv|'uses': '[^']*(?:await|manual|human|confirm|sign-?off|wait-for-(?!.*check)|(?<!dependency-)review(?!dog))"
    r"|\bread +-\w*p\b|\bgum confirm\b|\blgtm\b",
    re.IGNORECASE,
)


class _Key(str):
    """A key as it is written, and its line."""

    line = 1


def recognises(data: str) -> bool:
    """Is this YAML with steps or jobs, or another kind of file that is known by its name?"""
    return _BEGINS.match(data) is not None and (_GROUP.search(data) or problem_of(data)) is not None


def read(data: str) -> Plan:
    """Read the steps or the jobs; the name of a workflow is the goal."""
    if len(data) > _MOST:
        raise fault(f"this has more than {_MOST:,} characters", "write a shorter plan")
    content, remarks = _loaded(data)
    if isinstance(content, Mapping):
        for group in _KINDS:
            if isinstance(content.get(group), Mapping):
                return _from_jobs(group, content, remarks)
        if "name" in content and "goal" not in content:
            content = {"goal" if key == "name" else key: value for key, value in content.items()}
    return LossyPlan.of(Plan.parse(with_gates(plain(content))), remarks)


def write(plan: Plan) -> str:
    """Write the steps in the kit's own shape, a field a line."""
    data = json.loads(plan.to_json())
    lines = [f"{name}: {_quoted(value)}" for name, value in data.items() if name != "steps" and value != ""]
    lines.append("steps:" if plan.steps else "steps: []")
    for step in data["steps"]:
        fields = [f"  {name}: {_quoted(value)}" for name, value in step.items()]
        lines += ["-" + fields[0][1:], *fields[1:]]
    return "\n".join([*lines, ""])


def _quoted(value: Any) -> str:
    """A value as JSON, without the characters that YAML changes or refuses in quotes."""
    text = json.dumps(value, ensure_ascii=False)
    return re.sub("[\x7f-\xa0\u2028\u2029\ufeff\ufffe\uffff]", lambda match: f"\\u{ord(match[0]):04x}", text)


def _from_jobs(group: str, content: Mapping[_Key, Any], remarks: list[Problem]) -> Plan:
    (words, waits), settings, fields = _KINDS[group]
    remarks = remarks + _left_out(content, (group, "name"), settings, _Key("the file"))
    jobs = {id: _fields(id, job) for id, job in content[_Key(group)].items()}
    ids = {str(id): id for id in jobs}
    for id, job in jobs.items():
        for alias in _listed(job.get("aliases")):
            if ids.setdefault(str(alias), id) != id:
                raise fault(f"line {id.line}: the alias {alias} of {id} means {ids[alias]}, too", MEND)
    before = {id: [ids.get(name, name) for name in _names(id, job.get(waits))] for id, job in jobs.items()}
    if group == "stages":
        before = _makers(jobs, before)
    steps = []
    for id, job in jobs.items():
        remarks += _left_out(job, (words, waits), fields, id)
        told = {"description": str(job.get(words) or id), "gate": _is_approved(job)}
        steps.append({"id": id, "depends_on": before[id], **told})
    return build(steps, str(content.get(_Key("name")) or ""), {id: id.line for id in jobs}, remarks)


def _fields(id: _Key, job: Any) -> dict[Any, Any]:
    """The fields of a job without those of its commands; a task of a Taskfile can be its commands alone."""
    fields = {_Key("cmds"): job} if isinstance(job, str | list) else {} if job is None else job
    if not isinstance(fields, dict):
        raise fault(f"line {id.line}: {id} is {str(job)[:40]}, and no job", MEND)
    strategy = fields.get("strategy")
    if strategy is not None and not (isinstance(strategy, dict) and strategy.keys() <= _HARMLESS):
        raise fault(f"line {id.line}: {id} has a matrix or another strategy, which makes several jobs of it", MEND)
    for command in _listed(fields.get("cmds")):
        if isinstance(command, dict) and not command.keys().isdisjoint({"task", "defer"}):
            raise fault(f"line {id.line}: {id} runs another task among its commands", "name that task in deps: instead")
    return fields


def _left_out(fields: Mapping[_Key, Any], kept: tuple[str, str], known: str, of: _Key) -> list[Problem]:
    """A remark on the fields that are left out; raise `PlanError` for one that is not known."""
    names = [name for name in fields if name not in kept]
    if unknown := [name for name in names if name not in known.split()]:
        message = f"{unknown[0]} of {of} could change what is done, in which order, or who approves it"
        raise fault(f"line {unknown[0].line}: {message}", MEND)
    return [left_out(f"{', '.join(names)} of {of}", of.line)] if names else []


def _is_approved(job: Mapping[str, Any]) -> bool:
    """Does a person approve the job: by its environment, by its prompt, or by an action or a command for approvals?"""
    told = str([job.get(name) for name in ("steps", "cmds", "cmd", "summary")])
    named = [str(one.get("name")) for one in _listed(job.get("steps")) if isinstance(one, dict)]
    by_field = not job.keys().isdisjoint({"environment", "prompt"})
    return by_field or _ASKS.search(told) is not None or any(map(names_approval, named))


def _listed(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _names(id: _Key, value: Any) -> list[str]:
    """What a job waits for: other jobs, or files."""
    names = list[str]()
    for one in _listed(value):
        name = one.get("task") if isinstance(one, dict) and one.keys() <= {"task", "silent"} else one
        if not isinstance(name, str | int | float):
            mend = "write the names alone; a task that is called with vars is another step"
            raise fault(f"line {id.line}: {id} waits for {str(one)[:40]}, and not for a job by its name", mend)
        names.append(str(name))
    return names


def _makers(jobs: Mapping[_Key, Mapping[str, Any]], files: Mapping[_Key, list[str]]) -> dict[_Key, list[str]]:
    """The stages that a stage of dvc waits for: they make one of its `files`, a folder around it, or something in it."""
    owners, inside = dict[str, str](), dict[str, list[str]]()
    for id, job in jobs.items():
        for one in [*_listed(job.get("outs")), *_listed(job.get("metrics")), *_listed(job.get("plots"))]:
            *folders, path = _folders(str(next(iter(one))) if isinstance(one, dict) and one else str(one), id)
            if owners.setdefault(path, id) != id:
                raise fault(f"line {id.line}: {id} makes {path}, as {owners[path]} does", "let one stage make it")
            for folder in folders:
                inside.setdefault(folder, []).append(id)
    before: dict[_Key, list[str]] = {}
    for id, names in files.items():
        params = _listed(jobs[id].get("params"))
        settings = [next(iter(one), "") if isinstance(one, dict) else "params.yaml" for one in params]
        paths = [_folders(name, id) for name in [*names, *settings]]
        before[id] = [owners[folder] for folders in paths for folder in folders if folder in owners]
        before[id] += [stage for folders in paths for stage in inside.get(folders[-1], ())]
    return before


def _folders(written: str, id: _Key) -> list[str]:
    """The folders around a path, from the outermost, and the path itself."""
    if "${" in written:
        raise fault(f"line {id.line}: {id} names {written!r}, a path with a variable", "write the path itself")
    return list(accumulate(posixpath.normpath(written).split("/"), "{}/{}".format))


def _loaded(text: str) -> tuple[Any, list[Problem]]:
    """The contents of YAML, and remarks on what could be a part of a value, and is a comment for YAML, as ``#2`` is.

    Raises `PlanError` with the line where it is no YAML, or where a key is repeated.
    """
    import yaml

    remarks: list[Problem] = []

    def value_of(node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            if not node.style and (comment := _COMMENT.match(text, node.end_mark.index)):
                remarks.append(left_out(repr(comment[1][:60]), 1 + node.end_mark.line))
            return node.value if node.style else _meant(node.value)
        if isinstance(node, yaml.SequenceNode):
            return [value_of(part) for part in node.value]
        fields = dict[_Key, Any]()
        for key, part in node.value:
            value = value_of(part)
            if not isinstance(key, yaml.ScalarNode) or (
                getattr(node, "flow_style", False) and part.end_mark.index == key.end_mark.index
            ):
                raise wrong(
                    "this key is no name, or has no value; write quotes around a text with a bracket or a comma", key
                )
            name = _Key(key.value)
            if name in fields:
                raise wrong(f"the key {name!r} is repeated", key)
            name.line, fields[name] = 1 + key.start_mark.line, value
        return fields

    def wrong(problem: str, at: Any) -> yaml.MarkedYAMLError:
        return yaml.MarkedYAMLError(problem=problem, problem_mark=at.start_mark)

    loader, depth = getattr(yaml, "CBaseLoader", yaml.BaseLoader), 0
    try:
        for event in yaml.parse(
            text, loader
        ):  # libyaml's composer ends the process on a text that is nested too deeply
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if isinstance(event, yaml.AliasEvent) or depth > _DEEPEST:
                raise wrong("an alias, or too deep a nesting; write what it stands for", event)
            if tag := getattr(event, "tag", None):
                raise wrong(f"the tag {tag} has a meaning of its own", event)
        root = yaml.compose(text, loader)
        return None if root is None else value_of(root), remarks
    except (yaml.YAMLError, ValueError) as error:
        raise fault(f"this YAML can't be read: {' '.join(str(error).split())}", MEND) from None


def _meant(text: str) -> Any:
    """A value without quotes: what JSON writes in this way, null, or else the text."""
    try:
        value = from_json(text, allow_inf_nan=False)
    except ValueError:
        return None if text in ("", "~") else text
    return value if json.dumps(value) == text else text
