"""The readers' shared part: foreign calls and references become the kit's steps and references.

A reader gives the pattern of its references and the meaning of a match. All other text is literal: a text that only looks like
``{step_1_result}`` is escaped and keeps its meaning.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from planexec_lab.formats.shapes import fault, plain
from planexec_lite.plan import Plan, PlanError, Problem, Step
from planexec_lite.tools import Toolbox, references
from planexec_lite.tools.references import Reference

Rewrite = Callable[[str], str]


def rewriter(pattern: re.Pattern[str], meaning: Callable[[re.Match[str]], Reference | None]) -> Rewrite:
    """Return a function that writes a text in our notation; a match that means None stays literal.

    Marks that would change our reference are kept apart from it: the opening brace of ``{#E1}`` by a space, and a ``$``
    before it as a literal.
    """

    def rewrite(text: str) -> str:
        written, end = [], 0
        for match in pattern.finditer(text):
            if (reference := meaning(match)) is not None:
                wrapped = text.endswith("{", end, match.start()) and text.startswith("}", match.end())
                before = references.escape(text[end : match.start()])
                before = f"{before[:-1]}{{literal $}}" if before.endswith("$") else before
                written += [before, " " if wrapped else "", str(reference)]
                end = match.end()
        return "".join([*written, references.escape(text[end:])])

    return rewrite


def rewritten(value: Any, rewrite: Rewrite) -> Any:
    """Return `value` with every text in it rewritten, in lists and objects at any depth."""
    if isinstance(value, str):
        return rewrite(value)
    if isinstance(value, Mapping):
        return {name: rewritten(part, rewrite) for name, part in value.items()}
    return [rewritten(part, rewrite) for part in value] if isinstance(value, list | tuple) else value


def step(
    id: str, tool: str | None, params: Mapping[str, Any], rewrite: Rewrite, after: Iterable[str] = (), why: str = ""
) -> dict[str, Any]:
    """Return a step: `params` in the kit's notation; it depends on the ids in `after` and on those that it refers to."""
    ours = rewritten(params, rewrite)
    waits_for = dict.fromkeys([*after, *(reference.step for reference in references.find(ours))])
    return {"id": id, "description": why, "tool": tool, "params": ours, "depends_on": list(waits_for)}


def by_position(values: Iterable[Any]) -> dict[str, Any]:
    """Name arguments that have no names: a lone one ``input``, several ``arg1``, ``arg2``, …; see `formats.named`."""
    listed = list(values)
    return {"input": listed[0]} if len(listed) == 1 else {f"arg{n}": value for n, value in enumerate(listed, 1)}


_ID = re.compile(r"[\w.-]*", re.ASCII)


def _new_ids(ids: list[str]) -> dict[str, str]:
    """The ids that a plan can't have, and the new ones: without the forbidden signs, or numbers."""
    new, taken = dict[str, str](), set(ids)
    for number, id in enumerate(ids, 1):
        if not _ID.fullmatch(id) and id not in new:
            plain = re.sub(r"[^\w.-]+", "_", id).strip("_") if id.isascii() else ""
            tries = (plain or str(number), f"step_{number}", *(f"step_{number}_{more}" for more in range(len(ids))))
            new[id] = next(one for one in tries if one not in taken)
            taken.add(new[id])
    return new


def _renamed(step: dict[str, Any], ids: Mapping[str, str]) -> dict[str, Any]:
    """A step with the new ids in its own id, its dependencies and its references."""
    pattern = re.compile("|".join(re.escape(f"step_{id}_result") for id in ids))
    params = rewritten(
        step.get("params", {}), lambda text: pattern.sub(lambda match: f"step_{ids[match[0][5:-7]]}_result", text)
    )
    before = [ids.get(str(id), id) for id in step.get("depends_on", ())]
    return {**step, "id": ids.get(str(step["id"]), step["id"]), "params": params, "depends_on": before}


class LossyPlan(Plan):
    """A plan of a text that says more than a plan can hold.

    `problems` lists what was left out, with the code "left_out"; `formats.write` refuses the plan until a loss is allowed.
    Code that makes a new plan from it, such as `Plan.changed` and `execute`, makes an ordinary `Plan`.
    """

    _left_out: tuple[Problem, ...] = ()

    @classmethod
    def of(cls, plan: Plan, left_out: Iterable[Problem]) -> Plan:
        """Return `plan` with the remarks `left_out`; without remarks, the same plan."""
        lossy = cls(**{name: getattr(plan, name) for name in Plan.model_fields})
        lossy._left_out = tuple(left_out)
        return lossy if lossy.left_out else plan

    @property
    def left_out(self) -> tuple[Problem, ...]:
        """A remark for each part of the text that is not in the plan, with its line."""
        return self._left_out

    def problems(
        self, toolbox: Toolbox | None = None, done: Collection[str] = (), max_steps: int | None = None
    ) -> list[Problem]:
        """Return the problems of the plan, and what was left out of it."""
        return [*super().problems(toolbox, done, max_steps), *self._left_out]


def build(
    steps: list[dict[str, Any]],
    goal: str = "",
    lines: Mapping[str, int] | None = None,
    left_out: Iterable[Problem] = (),
) -> Plan:
    """Return the plan; raise `PlanError` for contents that no plan can hold.

    A step whose id has a forbidden sign is renamed: ``data/raw.csv`` to ``data_raw.csv``, and one with "é" to its number. A step
    whose words name a person's approval is a gate.

    Args:
        steps: their fields.
        goal: that of the plan.
        lines: of the steps, by their ids.
        left_out: remarks about what the text says and the plan does not.
    """
    steps = [{**step, "gate": True} if _is_approval(step) else step for step in steps]
    ids = _new_ids([str(step["id"]) for step in steps])
    if ids:
        steps = [_renamed(step, ids) for step in steps]
        lines = None if lines is None else {ids.get(id, id): line for id, line in lines.items()}
    try:
        return LossyPlan.of(Plan.parse(plain({"goal": goal, "steps": steps})), left_out)
    except PlanError as error:
        if lines is None:
            raise
        placed = [
            replace(problem, message=f"line {lines.get(problem.step or '', 1)}: {problem.message}")
            for problem in error.problems
        ]
        raise PlanError(placed) from None
    except ValueError as error:
        raise fault(f"a plan can't hold this: {error}", "use texts, numbers, lists and objects only") from None


# The patterns below are verbose: a space in them has no meaning.
_PERSON = r"""(?:humans?|persons?|people|manual(?:ly)?|managers?|operators?|owners?|stakeholders?|reviewers?|supervisors?
    |(?:team|tech)[ -]leads?|c[eft]o|ciso)"""
_MACHINE = r"""(?:apis?|servers?|services?|builds?|pods?|models?|chatgpt|llm|programs?|scripts?|jobs?|systems?|endpoints?
    |hosts?|clients?|backends?|pipelines?|databases?|compilers?|tests?|linters?|monitors?)"""
_DATA = r"""(?:rates?|ratings?|lists?|data|tables?|trees?|reports?|counts?|counters?|columns?|fields?|files?|dates?|histor\w+
    |logs?|statistics|stats|metrics?|scores?|badges?|numbers?|ratios?|summar\w+|sheets?|records?|csv|json|modules?)"""
_MENTION = re.compile(  # words of approvals and of persons that are data, machines, or arguments of a call
    rf"""(?imx)\b(?:job|node|package|process|task|window|password|file|session|memory|context|device|queue|resource|state|cache
        |connection|download|update|cluster|container|dependency|display|driver|config|configuration|secrets?|plugin|layout
        |transaction|thread|volume|boot)[ -]?managers?\b
    | \b{_PERSON}(?:'s?)?[ ](?:{_DATA}|{_MACHINE}|process(?:es)?|class(?:es)?|nodes?|db|roles?|headers?|pages?|ids?|names?|search
        |detection|readable|resources)\b | \bmanual[ ]says
    | \b(?:{_PERSON}(?:'s)?[ ](?:review|check)|approvals?|decisions?|sign[ -]?offs?|signatures?|permissions?|input|verification
        |confirmation|lgtm)[ .-]{_DATA}\b
    | \b(?:count|load|list|read|write|print|summari[sz]e|analy[sz]e|export|sort(?![ ]out)|plot|compute|calculate|look[ ]at
        |search(?:[ ]for)?|find|describe|download|import|parse|compare)[ ]['"]?
      (?:(?!(?:and|or|then|with|after|before|until|once|if|when|pending|upon|to|get|by|requir\w*|need\w*|without|for)\b)
        \w[\w'-]*[ ]){{0,3}}?
      (?:approvals?|reviews?|decisions?|sign[ -]?offs?|signatures?|permissions?|lgtm|says\W+\w+|go\W+no[ -]?go)\b
    | \b{_MACHINE}[ ]says\b
    | \A\s*(?P<tool>[\w.]+(?:[ ][\w.]+)*)\((?=[^()]*['"=]).*\)\s*\Z"""
)
_APPROVAL = re.compile(
    rf"""(?imx)(?<!auto[ -])approv(?!ed(?!\W*\?)|es)
    | \b(?:if|once|when|until|unless|after|wait\w*)\W{{1,9}}(?:\w[\w'-]*[\s,]+){{0,4}}(?:(?:is|are|be|been|gets?|got)[ ]approved\b
      |approved(?=\W*(?:$|[.,;:!?)\]]|[ ](?:by|to|then|and|in|on|via|the|an?|it|them|deploy|ship|send|publish|release)\b)))
    | freigabe|freigeben|genehmig|\bapro[bv]a|\bapprouv|\bapprobation|goedkeur|godkän(?!d\W+(?!av\b)\w)|godken|zatwierdz
    | согласова(?!нност)|согласи[ея]|согласен|одобр(?!енн)|утвер[жд](?!д?[её]нн)|审批|批准|承認|승인|موافقة
    | \b(?:sign[ -]?offs?|hitl|human.in.the.loop|lgtm|go[ -]ahead|go\W+no[ -]?go|says\W+(?:go|ok|okay|yes))\b
    | \buser.confirm
    | \b{_PERSON}(?:'s)?\W+(?:(?!(?:and|or|without)\b)\w+\W+)?
      (?:reviews?|checks?|confirm\w*|verif\w*|gates?|decisions?|decides?|consents?|permission
      |go[ -]ahead|ok|(?<!people[ ])input|signs?|signatures?|approves?)\b(?!-\w)
    | \b(?:(?:review|checks?|signs?|signatures?|confirm\w*|verif\w*)\b.{{0,20}}\b(?:by|with)
      |(?:confirmation|verification|decision|consent|permission|ok)\b.{{0,20}}\b(?:by|from|of)
      |signatures?[ ]of(?=[ ](?:an?|the)\b)|(?:signatures?|review)[ ]from)\W+(?:(?:an?|the)\W+)?{_PERSON}\b
    | \b(?:a?wait\w*|ask\w*|pause\w*|need\w*|requir\w*|obtain)[ ]+(?:\w[\w'-]*[\s,]+){{0,2}}signatures?\b
    | \b(?:a?wait\w*|ask\w*|pause\w*)\b(?:.{{0,40}}\b(?:confirmation|permission|consent)\b
      |\W{{1,9}}(?:\w[\w'-]*[\s,]+){{0,3}}?(?!people|manual|operators?){_PERSON}\b
      |.{{0,40}}\bfor\W+(?:(?:an?|the|your|\w+'s)\W+)?ok(?:ay)?\b
       (?=\W*(?:$|[.,;:)]|[ ](?:to|before)\b|[ ](?:from|by|of)\W+(?!(?:\w+\W+){{0,2}}{_MACHINE}\b))))"""
)
_NAMES = re.compile(  # the whole of an id beside other words
    r"""(?imx)(?:(?:wait|ask|get|await|request|need|require)\w*\W+(?:for\W+)?)?
    (?:(?:\w+\W)?\w*approval|(?:human|manual)\W?(?:review|check|gate|verification|confirmation)|approve(?:\W\w+){0,3}
      |sign\W?off|lgtm|hitl)(?:\W(?:gate|step|node|task|job|required|needed|\d+))?"""
)


def _is_approval(step: Mapping[str, Any]) -> bool:
    """Do the words of a step without a tool name a person's approval, or is its whole id the name of one?"""
    words, id = str(step.get("description", "")), str(step.get("id", ""))
    named = _NAMES.fullmatch(id.replace("_", " ")) is not None
    return not step.get("tool") and (named or names_approval(words or id))


def names_approval(words: str) -> bool:
    """Do these words ask for a person's approval? A mention of approvals as data does not."""
    return _APPROVAL.search(_MENTION.sub(r"… \g<tool>", words.replace("_", " "))) is not None


def with_gates(data: Any) -> Any:
    """Return a plan in the kit's own shape; a step that is a mere text and names a person's approval becomes a gate."""
    if isinstance(data, Mapping):
        return {name: with_gates(part) if isinstance(part, list) else part for name, part in data.items()}
    steps = data if isinstance(data, list) else []
    told = [
        {"description": one, "gate": True} if isinstance(one, str) and names_approval(one) else one for one in steps
    ]
    return data if told == steps else told


def through(ids: Iterable[str], passed: Mapping[str, list[str]]) -> list[str]:
    """Return `ids`, but for those in `passed` what is before them, because they are no steps."""
    kept, left, seen = list[str](), list(ids), set[str]()
    while left:
        if (id := left.pop(0)) not in seen:
            seen.add(id)
            left[:0] = passed.get(id, [])
            kept += [] if id in passed else [id]
    return kept


def whole(form: str) -> Callable[[Reference], str]:
    """Return what writes a reference to a whole result: `form` with the step's id for ``{}``."""

    def written(reference: Reference) -> str:
        if reference.path:
            message = f"{reference} names a part of a result, and {form.format(1)} is the whole"
            raise unwritable(None, message, "use the whole result")
        return form.format(reference.step)

    return written


def positional(params: Mapping[str, Any]) -> list[Any] | None:
    """Return the values of arguments that `by_position` named; None if some have other names."""
    values = [params[key] for key in ("input", *(f"arg{n}" for n in range(1, len(params) + 1))) if key in params]
    return values if by_position(values) == params else None


def unwritable(step: str | None, message: str, mend: str) -> PlanError:
    """Return an error that names the part that a format can't hold, its place and the fix."""
    return PlanError([Problem("unwritable", step, message, mend)])


def only_tools(plan: Plan) -> Iterator[tuple[Step, str]]:
    """Yield the steps with their tools; raise `PlanError` if a step has no tool."""
    for one in plan.steps:
        if one.tool is None:
            hint = "name the tool, or write a format that has steps in words: native, mermaid, dot, list"
            raise unwritable(one.id, "it has no tool, and this format writes calls alone", hint)
        yield one, one.tool
