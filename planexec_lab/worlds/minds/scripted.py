"""A planner that is a script: it knows one goal, a table of steps, and the requests that change which of them it plans."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from planexec_lab.worlds.minds.requests import Options, Reader
from planexec_lab.worlds.minds.told import Entry, entries_in
from planexec_lite.tools import references

if TYPE_CHECKING:
    from mock_llm import Reply, Request

REAL_MODEL = "for anything else, set PLANEXEC_LLM to connect a real model"
_COMMENT = re.compile(r"^- plan: (.*) \[change_asked\]", re.M)
_PROBLEM = re.compile(r"^- .* \[\w+\]", re.M)
_OPEN = ("waiting", "running", "done", "skipped")


class Row(NamedTuple):
    """A step that the script can plan, if each option in `when` is set; one with "-" must be unset.

    A dependency on a step that isn't planned becomes dependencies on those that this step waits for.
    """

    id: str
    description: str
    tool: str
    params: Mapping[str, Any] = {}
    depends_on: Sequence[str] = ()
    success_criteria: str | None = None
    when: str = ""

    def planned(self, options: Options) -> bool:
        """Whether the options ask for this step."""
        return all(options.get(word.removeprefix("-"), False) != word.startswith("-") for word in self.when.split())


@dataclass(frozen=True)
class Choice:
    """A value that a text can name, such as a version.

    `pattern` has one group, in which the value is written without its `prefix`; `values` has the options that each sets.
    """

    name: str
    pattern: str
    prefix: str
    values: Mapping[str, Options]
    default: str


@dataclass(frozen=True)
class ScriptedPlanner:
    """The script of one world.

    Args:
        goal: the goal as the lessons write it.
        knows: the requests that it knows, for a person.
        rows: the steps, in the order of the plan.
        reader: reads the words.
        options: the options of the plan without requests; "show" answers with the plan in words.
        reads: the tool of a first step that changes nothing, which runs even if the plan is only shown.
        rollback: the calls that make things good again: tool and parameters.
        choice: a value that a text can choose.
        facts: options that a pattern in the run so far sets.
        latency: seconds for the first plan, and for a later one.
    """

    goal: str
    knows: str
    rows: Sequence[Row]
    reader: Reader
    options: str
    reads: str
    rollback: Sequence[tuple[str, Mapping[str, Any]]] = ()
    choice: Choice | None = None
    facts: Mapping[str, str] = field(default_factory=dict)
    latency: tuple[float, float] = (6.0, 4.0)

    def limits(self, *texts: str) -> str:
        """What the script says to everything that it does not know, with the parts of `texts` that it can't read.

        The first text is a goal.
        """
        strange = [text for place, text in enumerate(texts) if self._read(text, goal=place == 0) is None]
        parts = [part.strip() for text in strange for part in re.split(r"[,;:!?\n]+|\.(?!\d)", text)]
        unread = [f"“{part}”" for part in parts if self._read(part) is None]
        missed = f"it did not understand {', '.join(unread)}; " if unread else ""
        return (
            f"this planner is a script that knows the goal “{self.goal}” and these requests, each in a short sentence: "
            f"{self.knows}; {missed}{REAL_MODEL}"
        )

    @property
    def scene(self) -> dict[str, Any]:
        """The scene with which the script answers requests for a whole plan."""
        when = {"system": ["Role: planner", "Write the whole plan"]}
        return {"name": "the scripted planner", "when": when, "reply": {"python": self.reply}}

    def reply(self, request: Request) -> Reply:
        """Answer a planner's request: a plan, or a refusal that says what the script knows."""
        from mock_llm import Reply

        told, *repair = [message.text for message in request.conversation if message.role == "user"]
        goal, _, rest = told.removeprefix("Goal: ").partition("\n\n")
        entries = {entry.id: entry for entry in entries_in(told)}
        _, _, news = rest.partition("News:\n")
        asked = [line.removeprefix("- ") for line in news.partition("\n\nPlan the rest")[0].splitlines() if line]
        if repair:
            comments = _COMMENT.findall(repair[-1])
            asked = [comment.replace("\\n", ". ") for comment in comments]
            if len(comments) != len(_PROBLEM.findall(repair[-1])):
                return Reply(refusal=self.limits())
        wanted = self._wanted(goal, asked, entries, rest)
        if wanted is None:
            return Reply(refusal=self.limits(goal, *asked))
        options, value = wanted
        rows = [row for row in self.rows if row.planned(options)]
        if not asked and any(entry.state == "failed" and self._row(id) in rows for id, entry in entries.items()):
            return Reply(refusal=f"a step failed, and {self.limits()}")
        for row in rows:
            after = [entries.get(other.id) for other in rows if row.id in other.depends_on]
            if row.id not in entries and after and all(map(_done, after)):
                return Reply(
                    refusal=f"it is too late for “{row.description}”, which must come before a step that is done"
                )
        return Reply(json=self._plan(goal, rows, options, value, entries), latency=self.latency[bool(entries)])

    def _wanted(
        self, goal: str, asked: Sequence[str], entries: Mapping[str, Entry], record: str
    ) -> tuple[Options, str] | None:
        """The options and the chosen value after the goal, the run so far and the requests; None if one is not understood."""
        options, value = dict.fromkeys(self.options.split(), True), self.choice.default if self.choice else ""
        texts, wanted = [goal, *asked], dict[str, bool]()
        for place, text in enumerate(texts):
            changes, values = self._read(text, goal=place == 0), self._chosen(text)[1]
            if changes is None or not (changes or values) or len(set(values)) > 1:
                return None
            if place == 0 and entries:
                options, value = self._shown(entries, options, value)
                continue
            options |= changes
            wanted |= changes
            for value in values:
                if self.choice is None or value not in self.choice.values:
                    return None
                options |= self.choice.values[value]
        options |= {name: True for name, pattern in self.facts.items() if re.search(pattern, record)}
        possible = options | {name: True for name in wanted if not wanted[name]}
        planned = {name for row in self.rows if row.planned(possible) for name in row.when.split()}
        known = {name for row in self.rows for name in row.when.split()}
        if any(options[name] and wanted[name] for name in (known - planned) & wanted.keys()):
            return None  # asked for, and no step of the plan does it
        return options, value

    def _read(self, text: str, *, goal: bool = False) -> Options | None:
        return self.reader.read(self._chosen(text)[0], goal=goal)

    def _chosen(self, text: str) -> tuple[str, list[str]]:
        """The text without the values in it, and the values."""
        if self.choice is None:
            return text, []
        pattern = self.choice.pattern
        one = re.sub(r"\((?!\?)", "(?:", pattern)
        instead = (
            rf"\bnot (?:\w+ )?{one},? but (?:rather )?({one})|({one}),? (?:and )?not {one}"
            rf"|\b(?:replace|swap|exchange) {one} (?:by|with|for|against) ({one})"
        )
        clean = re.sub(f"(?i){instead}", lambda pair: next(filter(None, pair.groups())), text)
        clean = re.sub(rf"(?i)\b(?:from|instead of|rather than|replacing)\s+{pattern}", "", clean)
        values = [f"{self.choice.prefix}{match}" for match in re.findall(f"(?i){pattern}", clean)]
        negative = re.search(rf"(?i)\b(?:not|no|never|\w+n['’]t|dont)\b[^,;.]{{0,20}}{pattern}", clean)
        added = re.search(rf"(?i){pattern}[^,;.:?!]*\b(?:as well|too|also)\b|\balso\b[^,;.:?!]*{pattern}", clean)
        return re.sub(f"(?i){pattern}", self.choice.name, clean), [*values, ""] if negative or added else values

    def _shown(self, entries: Mapping[str, Entry], options: Options, value: str) -> tuple[Options, str]:
        """The options that the plan on the board shows, and its chosen value."""
        present = [self._row(id) for id, entry in entries.items() if entry.state != "superseded"]
        if {row.tool for row in present if row} == {self.reads}:
            return options, value  # the plan was only shown
        names = {name for row in self.rows for name in row.when.split() if not name.startswith("-")}
        shown = {name: any(row and name in row.when.split() for row in present) for name in names}
        for name in names:
            would = shown | {name: True}
            if not any(name in row.when.split() and row.planned(would) for row in self.rows):
                shown[name] = options.get(name, False)
        if self.choice:
            calls = " ".join(entry.step for entry in entries.values() if entry.state != "superseded")
            value = next((one for one in self.choice.values if one in calls), value)
        return options | shown, value

    def _row(self, id: str) -> Row | None:
        return next((row for row in self.rows if row.id == id.partition(".")[0]), None)

    def _plan(
        self, goal: str, rows: Sequence[Row], options: Options, value: str, entries: Mapping[str, Entry]
    ) -> dict[str, Any]:
        ids = {row.id: self._id(row, value, entries) for row in rows}
        steps = [
            {
                "id": ids[row.id],
                "description": row.description,
                "tool": row.tool,
                "params": _filled(row.params, value, ids),
                "depends_on": self._waits(row, ids),
                "success_criteria": row.success_criteria,
            }
            for row in rows
            if not _done(entries.get(ids[row.id]))
        ]
        calls = [
            {"tool": tool, "params": _filled(params, value, ids)}
            for tool, params in self.rollback
            if {reference.step for reference in references.find(dict(params))} <= ids.keys()
        ]
        answer = None
        if options.get("show"):
            words = "; ".join(f"{step['id']} {step['description']}" for step in steps)
            steps, calls = [step for step in steps if step["tool"] == self.reads], []
            answer = f"Only a plan, not carried out: {words}."
        return {"goal": goal, "steps": steps, "rollback": calls, "answer": answer, "complete": True}

    def _id(self, row: Row, value: str, entries: Mapping[str, Entry]) -> str:
        """The row's id; a new one if a step of that id failed, was dropped, or made another call."""
        call = json.dumps(_filled(row.params, value, {}))
        id, number = row.id, 1
        while (entry := entries.get(id)) is not None and not _open(entry, call, self.choice):
            number += 1
            id = f"{row.id}.{number}"
        return id

    def _waits(self, row: Row, ids: Mapping[str, str]) -> list[str]:
        """The ids that a step waits for, in the order of the rows; a step that isn't planned passes its own on.

        What is passed on is left out where the step waits for it anyway.
        """
        waits, behind = set(row.depends_on), set[str]()
        while gone := waits - ids.keys():
            waits = (waits & ids.keys()).union(*(one.depends_on for one in self.rows if one.id in gone))
        rest = [*waits]
        while rest:
            before = next(one.depends_on for one in self.rows if one.id == rest[-1])
            rest[-1:] = set(before) - behind
            behind.update(before)
        return [
            ids[one.id] for one in self.rows if one.id in waits and (one.id in row.depends_on or one.id not in behind)
        ]


def _done(entry: Entry | None) -> bool:
    return entry is not None and entry.state == "done"


def _open(entry: Entry, call: str, choice: Choice | None) -> bool:
    """Whether a step on the board can stay: it is not over in another way than done, and has the same chosen value."""
    values = () if choice is None else choice.values
    other = any(value in entry.step and value not in call for value in values)
    return entry.state in _OPEN and not (entry.state == "done" and other)


def _filled(params: Mapping[str, Any], value: str, ids: Mapping[str, str]) -> Any:
    """The parameters with the chosen value for ``$value``, and the ids that the steps have in this plan."""
    text = json.dumps(params).replace("$value", value)
    return json.loads(re.sub(r"\{step_(\w+?)_result", lambda id: f"{{step_{ids.get(id[1], id[1])}_result", text))
