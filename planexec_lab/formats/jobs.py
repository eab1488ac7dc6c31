"""Jobs in YAML that name what they wait for, as continuous integration and task runners have them.

GitHub Actions (``jobs`` with ``needs``), Taskfile (``tasks`` with ``deps``), dvc (``stages``, whose ``deps`` are the ``outs`` of
others), Argo (``dag.tasks`` with ``dependencies`` or ``depends``), Compose (``services`` with ``depends_on``), CircleCI
(``workflows`` with ``requires``), Tekton (``runAfter``), and lists of steps with one of these names. A job is a step without a
tool. A field that is not known to leave the order and the number of steps as they are, such as ``if`` or a matrix, is a fault.
"""

from __future__ import annotations

import json
import posixpath
import re
from collections.abc import Mapping
from typing import Any

from planexec_lab.formats.drawn import Chart, arrows
from planexec_lab.formats.shapes import fault
from planexec_lite.plan import Plan

_WAITS = "needs deps depends_on dependencies depends dependsOn requires runAfter after upstream".split()
_GROUPS = ("jobs", "tasks", "stages", "services", "steps")
_RECOGNISED = re.compile(rf"(?:^[ \t-]*|[{{,][ \t]*)(?:{'|'.join(_WAITS)})[ \t]*:", re.MULTILINE)
_GROUP = re.compile(rf"^[ \t]*(?:{'|'.join(_GROUPS)})[ \t]*:[ \t]*(?:#.*)?$", re.MULTILINE)
_HARMLESS = """
    name id title description desc summary task tool agent action args arguments params parameters input inputs output outputs
    command cmd cmds run script shell steps env environment notes owner priority role tags labels
    runs-on permissions defaults timeout-minutes container services uses with secrets fail-fast max-parallel
    vars dotenv silent dir aliases label method sources generates internal interactive prefix set shopt use_gitignore failfast
    outs metrics plots meta always_changed template templateRef inline taskRef taskSpec workspaces retries timeout displayName
    image build entrypoint env_file ports expose volumes networks network_mode healthcheck container_name hostname domainname
    logging user working_dir configs platform privileged cap_add cap_drop ulimits stdin_open tty init shm_size extra_hosts dns
    security_opt stop_grace_period stop_signal sysctls tmpfs pull_policy read_only mem_limit cpus runtime annotations devices
    gpus group_add ipc pid restart resources restart_policy
""".split()
_BEGINS = re.compile(r"[ \t{-]*(?:(?:id|name):[ \t]*)?[\"']?(.+?)[\"']?[ \t]*(?:[,}].*|:(?:[ \t].*)?)?$")
_MOST = 200_000  # characters
_MEND = "write jobs:, and below each job its name and needs: [the jobs before it]; leave out what a plan can't have"


def recognises(data: str) -> bool:
    """Is this YAML with a group of jobs and a name for what they wait for?"""
    return _RECOGNISED.search(data) is not None and _GROUP.search(data) is not None


def read(data: str) -> Plan:
    """Read the jobs; the name of the workflow is the goal."""
    if not isinstance(data, str) or len(data) > _MOST:
        raise fault(f"this is not text, or has more than {_MOST:,} characters", _MEND)
    content = _loaded(data)
    groups = _groups(content)
    if len(groups) != 1:
        raise fault(f"line 1: there are {len(groups) or 'no'} groups of jobs in it", _MEND)
    [jobs] = groups
    chart = Chart(str(content.get("name") or "") if isinstance(content, Mapping) else "")
    outputs = {
        out: id for id, job in jobs.items() for key in ("outs", "metrics", "plots") for out in _paths(job.get(key))
    }
    lines = dict.fromkeys(jobs, 1) | _lines(data)
    for id, job in jobs.items():
        _check(id, job, lines[id])
        words = next((str(job[key]) for key in ("name", "desc", "description", "summary") if job.get(key)), id)
        chart.node(id, lines[id], words.split("\n"))
    for id, job in jobs.items():
        for other in _before(id, job, jobs, outputs, lines[id]):
            if other not in chart.nodes:
                raise fault(f"line {lines[id]}: {id} waits for {other!r}, which is not there", _MEND)
            chart.arrow(other, id, lines[id])
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
    waiting, groups = [content], list[dict[str, dict[str, Any]]]()
    for part in waiting:
        if not isinstance(part, Mapping):
            continue
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
    """Raise `PlanError` for a field that is not known to leave the order and the number of steps as they are."""
    inner = [part for part in (job.get("strategy"), job.get("deploy")) if isinstance(part, Mapping)]
    for key, value in [(key, value) for part in (job, *inner) for key, value in part.items()]:
        other = str(value).startswith(("service:", "container:"))  # Compose: the network of another job
        known = key in (*_WAITS, "strategy", "deploy") or (key in _HARMLESS and not other)
        if not known and (value not in (None, False) or key == "enabled"):
            message = f"line {line}: {id} has {key}: {str(value)[:40]}, which could change the order or number of steps"
            raise fault(message, _MEND)
    cmds = job["cmds"] if isinstance(job.get("cmds"), list) else []
    if any(isinstance(cmd, Mapping) and "task" in cmd for cmd in cmds):
        raise fault(f"line {line}: {id} runs another task among its commands", "name it in deps: instead")


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


def _loaded(text: str) -> Any:
    """The contents of YAML; raise `PlanError` with the line where it is none, or where a key is repeated."""
    import yaml

    sizes: dict[yaml.Node, int] = {}  # in characters, with each alias written out

    class Loader(yaml.SafeLoader):
        def compose_node(self, parent: Any, index: Any) -> Any:
            named = self.check_event(yaml.AliasEvent)
            node: Any = super().compose_node(parent, index)
            if isinstance(node, yaml.ScalarNode):
                sizes[node] = 1 + len(node.value)
            elif not named:
                pairs = node.value if isinstance(node, yaml.MappingNode) else [node.value]
                sizes[node] = 1 + sum(sizes[part] for pair in pairs for part in pair)
            if sizes.get(node, _MOST + 1) > _MOST:
                problem = f"an alias contains itself, or makes the text longer than {_MOST:,} characters"
                raise yaml.MarkedYAMLError(problem=problem, problem_mark=node.start_mark)
            return node

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            keys = set[str]()
            for key, _ in node.value:
                if str(key.value) in keys:
                    raise yaml.MarkedYAMLError(
                        problem=f"the key {key.value!r} is repeated", problem_mark=key.start_mark
                    )
                keys.add(str(key.value))
            return super().construct_mapping(node, deep)

    try:
        return yaml.load(text, Loader)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise fault(f"this is not YAML: {' '.join(str(error).split())}", _MEND) from None


def _lines(text: str) -> dict[str, int]:
    """The first line that begins with each id, or with ``id:`` or ``name:`` before it."""
    lines: dict[str, int] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if begins := _BEGINS.match(line):
            lines.setdefault(begins[1], number)
    return lines
