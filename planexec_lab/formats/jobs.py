"""Jobs in YAML that name what they wait for, as continuous integration and task runners have them.

GitHub Actions (``jobs`` with ``needs``), Taskfile (``tasks`` with ``deps``), dvc (``stages``, whose ``deps`` are the ``outs`` of
others), Argo (``dag.tasks`` with ``dependencies`` or ``depends``), Compose (``services`` with ``depends_on``), CircleCI
(``workflows`` with ``requires``), Tekton (``runAfter``), and lists of steps with one of these names. A job is a step without a
tool. A field that changes the order or number of steps, such as ``if``, ``when`` or a matrix, is a fault.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections import Counter
from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.drawn import Chart, arrows
from planexec_lab.formats.shapes import fault
from planexec_lite.plan import Plan

CARRIES = frozenset({"goal", "description"})

_WAITS = "needs deps depends_on dependencies depends dependsOn requires runAfter after upstream".split()
_PLAIN_WAITS = {re.sub("[-_]", "", name).lower() for name in _WAITS}
_GROUPS = ("jobs", "tasks", "stages", "services", "steps")
_RECOGNISED = re.compile(rf"(?:^[ \t-]*|[{{,][ \t]*)(?:{'|'.join(_WAITS)})[ \t]*:", re.MULTILINE)
_GROUP = re.compile(rf"^[ \t]*(?:{'|'.join(_GROUPS)})[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_REFUSED = {  # keys without - and _
    name: why
    for why, keys in {
        "a condition, and a plan has no branches": "if when unless condition only except rules profiles manual triggerrule",
        "a loop or copies, and a plan has none": "withitems withparam withsequence for loop foreach repeat count replicas parallel",
        "a failure that does not count": "continueonerror continueon allowfailure ignoreerror ignoreerrors",
        "a job that is not run": "disabled skip skipped done",
        "an order that is not read; use needs": "before downstream next then waitfor links volumesfrom requiredby blocks "
        "needsany hooks stage finally onexit",
        "another folder for its paths": "wdir",
    }.items()
    for name in keys.split()
}
_MOST = 200_000  # characters
_MEND = "write jobs:, and below each job its name and needs: [the jobs before it]; leave out what a plan can't have"


def recognises(data: str) -> bool:
    """Is this YAML with a group of jobs and a name for what they wait for?"""
    return _RECOGNISED.search(data) is not None and _GROUP.search(data) is not None


def read(data: str) -> Plan:
    """Read the jobs; the name of the workflow is the goal."""
    if not isinstance(data, str) or len(data) > _MOST:
        raise fault(f"this is not text, or has more than {_MOST:,} characters", _MEND)
    import yaml

    try:
        node = yaml.compose(data, yaml.SafeLoader)
        content = yaml.safe_load(data)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise fault(f"this is not YAML: {' '.join(str(error).split())}", _MEND) from None
    lines = _lines(node)
    groups = _groups(content)
    if len(groups) != 1:
        raise fault(f"line 1: there are {len(groups) or 'no'} groups of jobs in it", _MEND)
    [jobs] = groups
    chart = Chart(str(content.get("name") or "") if isinstance(content, Mapping) else "")
    outputs = {
        out: id for id, job in jobs.items() for key in ("outs", "metrics", "plots") for out in _paths(job.get(key))
    }
    exclusive = Counter(str(job["concurrency"]) for job in jobs.values() if job.get("concurrency"))
    for id, job in jobs.items():
        line = lines.get(id, 1)
        _check(id, job, line)
        if exclusive[str(job.get("concurrency"))] > 1:
            raise fault(f"line {line}: {id} can't run at the same time as another job of its concurrency group", _MEND)
        words = next((str(job[key]) for key in ("name", "desc", "description", "summary") if job.get(key)), id)
        chart.node(id, line, words.split("\n"))
    for id, job in jobs.items():
        for other in _before(id, job, jobs, outputs, lines.get(id, 1)):
            if other not in chart.nodes:
                raise fault(f"line {lines.get(id, 1)}: {id} waits for {other!r}, which is not there", _MEND)
            chart.arrow(other, id, lines.get(id, 1))
    return chart.plan()


def write(plan: Plan) -> str:
    """Write the jobs of a workflow, with the ids as keys."""
    needs: dict[str, list[str]] = {step.id: [] for step in plan.steps}
    for start, end in arrows(plan):
        needs[end].append(start)
    lines = [*([f"name: {_quoted(plan.goal)}"] if plan.goal else []), "jobs:"]
    for step in plan.steps:
        lines.append(f"  {_quoted(step.id)}:")
        lines.append(f"    name: {_quoted(step.description)}")
        lines.append(f"    needs: {_quoted(needs[step.id])}")
    return "\n".join([*lines, ""])


def _quoted(value: Any) -> str:
    """A value as JSON, which YAML reads."""
    return json.dumps(value, ensure_ascii=False)


def _groups(content: Any) -> list[dict[str, dict[str, Any]]]:
    """The outermost groups of jobs, each by the ids of its jobs. CircleCI's are in its workflows."""
    if isinstance(content, Mapping) and "workflows" in content:
        content = content["workflows"]
    waiting, seen, groups = [content], set[int](), list[dict[str, dict[str, Any]]]()
    for part in waiting:  # a part that aliases name twice is looked at once
        if not isinstance(part, Mapping) or id(part) in seen:
            continue
        seen.add(id(part))
        if jobs := [one for key in _GROUPS if (one := _named(part.get(key)))]:
            if last := next((key for key in ("finally", "onExit") if part.get(key)), None):
                raise fault(f"line 1: {last} has jobs that run after all others, also after a failure", _MEND)
            groups += jobs
            continue
        for inner in part.values():
            waiting += inner if isinstance(inner, list) else [inner]
    return groups


def _named(group: Any) -> dict[str, dict[str, Any]]:
    if isinstance(group, Mapping):
        return {str(id): dict(job) if isinstance(job, Mapping) else {} for id, job in group.items()}
    named: dict[str, dict[str, Any]] = {}
    for job in group if isinstance(group, list) else []:
        id, fields = "", job
        if isinstance(job, str):
            id, fields = job, {}
        elif isinstance(job, Mapping) and len(job) == 1 and isinstance(inner := next(iter(job.values())), Mapping):
            id, fields = str(next(iter(job))), inner
        elif isinstance(job, Mapping):
            id = str(job.get("id", job.get("name", "")))
        if not id or id in named:
            return {}
        named[id] = dict(fields)
    return named if any(set(_WAITS) & job.keys() for job in named.values()) else {}


def _check(id: str, job: Mapping[str, Any], line: int) -> None:
    for key, value in job.items():
        plain = re.sub("[-_]", "", str(key)).lower()
        if plain in _REFUSED and value not in (None, False):
            raise fault(f"line {line}: {id} has {key}: {str(value)[:40]}, {_REFUSED[plain]}", _MEND)
        if (plain == "enabled" and value is False) or (plain in _PLAIN_WAITS and key not in _WAITS):
            raise fault(f"line {line}: {id} has {key}: {str(value)[:40]}, which is not read; write needs", _MEND)
    strategy = job.get("strategy")
    if isinstance(strategy, Mapping) and "matrix" in strategy:
        raise fault(f"line {line}: {id} has a matrix, which makes several jobs", _MEND)
    cmds = job.get("cmds")
    for cmd in cmds if isinstance(cmds, list) else []:
        if isinstance(cmd, Mapping) and "task" in cmd:
            raise fault(
                f"line {line}: {id} runs the task {cmd['task']!r} among its commands", "name it in deps: instead"
            )


def _before(
    id: str, job: Mapping[str, Any], jobs: Mapping[str, Any], outputs: Mapping[str, str], line: int
) -> list[str]:
    """The jobs that a job waits for."""
    before: list[str] = []
    for key in _WAITS:
        value = job.get(key)
        if key == "depends" and isinstance(value, str):
            before += _argo(id, value, line)
        elif isinstance(value, str):
            before.append(value)
        elif isinstance(value, Mapping):
            before += _compose(id, value, line)
        elif value is None or isinstance(value, list):
            if any(isinstance(one, Mapping) and "for" in one for one in value or []):
                raise fault(f"line {line}: {id} has {key} with for, a loop, and a plan has none", _MEND)
            names = [str(one.get("task", one.get("job")) if isinstance(one, Mapping) else one) for one in value or []]
            files = outputs and not set(names) & jobs.keys()  # dvc names files and folders
            before += [job for name in names for out, job in outputs.items() if _within(name, out)] if files else names
        else:
            raise fault(f"line {line}: {id} has {key}: {str(value)[:40]}, which is no list of jobs", _MEND)
    return list(dict.fromkeys(before))


def _argo(id: str, written: str, line: int) -> list[str]:
    names = [name.strip() for name in written.replace("(", " ").replace(")", " ").split("&&")]
    if any(not re.fullmatch(r"[\w-]+(?:\.Succeeded)?", name) for name in names):
        raise fault(
            f"line {line}: {id} has depends: {written[:60]!r}, and a plan only waits for steps that are done", _MEND
        )
    return [name.removesuffix(".Succeeded") for name in names]


def _compose(id: str, value: Mapping[Any, Any], line: int) -> list[str]:
    for other, how in value.items():
        condition = how.get("condition", "service_started") if isinstance(how, Mapping) else ""
        required = not isinstance(how, Mapping) or how.get("required", True)
        if not required or condition not in ("service_started", "service_healthy", "service_completed_successfully"):
            raise fault(f"line {line}: {id} waits for {other!r} under the condition {condition!r}", _MEND)
    return [str(other) for other in value]


def _paths(outs: Any) -> list[str]:
    listed = outs if isinstance(outs, list) else []
    return [str(next(iter(one))) if isinstance(one, Mapping) and one else str(one) for one in listed]


def _within(one: str, other: str) -> bool:
    """Are these the same path, or is one of them a folder that contains the other?"""
    one, other = (f"{posixpath.normpath(path)}/" for path in (one, other))
    return one.startswith(other) or other.startswith(one)


def _lines(node: Any) -> dict[str, int]:
    """The line of each key and of each value of ``id`` and ``name``, the first one; raise `PlanError` for a repeated key."""
    lines: dict[str, int] = {}
    waiting = [node]
    seen: set[int] = set()
    while waiting:
        one = waiting.pop()
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        if one.id == "mapping":
            keys = set[str]()
            for key, value in one.value:
                if key.id == "scalar" and key.value in keys:
                    raise fault(f"line {key.start_mark.line + 1}: the key {key.value!r} is repeated", _MEND)
                keys.add(str(key.value))
                lines.setdefault(str(key.value), key.start_mark.line + 1)
                if key.value in ("id", "name") and value.id == "scalar":
                    lines.setdefault(str(value.value), value.start_mark.line + 1)
                waiting.append(value)
        elif one.id == "sequence":
            waiting += one.value
    return lines
