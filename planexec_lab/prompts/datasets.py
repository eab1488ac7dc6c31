"""Data sets made from past runs: each row is a planner's question.

A row has the planner's whole input: goal, tools, and the events of the run so far. So another prompt version can get the same
question.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from planexec_lab.json_schema import tool_from_schema
from planexec_lab.recorded import Transcript
from planexec_lab.worlds import arithmetic
from planexec_lite.assembly import Board
from planexec_lite.run import Run
from planexec_lite.run.events import PlanProposed, PlanStarted, from_json, to_json
from planexec_lite.tools import Effects, Toolbox, ToolError


@dataclass(frozen=True, slots=True)
class ToolWords:
    """A tool as a planner sees it: name, description, JSON schema of its arguments, effects."""

    name: str
    description: str
    schema: Mapping[str, Any]
    effects: Effects = "none"


@dataclass(frozen=True, slots=True)
class Row:
    """One question that a planner was asked.

    Args:
        id: which it is in its source, such as "run 3, question 2".
        goal: what the run was for.
        tools: that the planner was shown.
        events: of the run so far, each as JSON; the last one is that the planner was asked.
        tags: what the row is to be found by: those given, why the planner was asked, and how the run ended.
    """

    id: str
    goal: str
    tools: tuple[ToolWords, ...]
    events: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()

    @property
    def board(self) -> Board:
        """The board as the planner was shown it."""
        return Board.of([from_json(event) for event in self.events])

    @property
    def toolbox(self) -> Toolbox:
        """The tools for prompts and checks; calling a tool raises `ToolError`."""
        return Toolbox(
            tool_from_schema(
                _nothing,
                one.schema,
                name=one.name,
                description=one.description,
                checked_elsewhere=True,
                effects=one.effects,
            )
            for one in self.tools
        )


def _nothing(**arguments: Any) -> None:
    raise ToolError("tools in a data set can be read but not called")


def tool_words(tools: Toolbox) -> tuple[ToolWords, ...]:
    """Return a planner's view of the tools."""
    return tuple(ToolWords(one.name, one.description, one.schema, one.effects) for one in tools)


def rows_from_runs(runs: Iterable[Run], tools: Toolbox, tags: Iterable[str] = ()) -> list[Row]:
    """Return a row for each question that a planner was asked in some runs.

    Args:
        runs: the runs, such as those that a journal loads.
        tools: that the planner was shown; a run does not hold them.
        tags: for every row.
    """
    words, marks = tool_words(tools), tuple(tags)
    return [row for place, run in enumerate(runs, 1) for row in _of_run(run, f"run {run.id or place}", words, marks)]


def _of_run(run: Run, name: str, tools: tuple[ToolWords, ...], tags: tuple[str, ...]) -> Iterator[Row]:
    asked, number, reason = 0, 0, ""
    for place, event in enumerate(run.events, 1):
        if isinstance(event, PlanStarted):
            asked, number, reason = place, number + 1, event.reason
        elif isinstance(event, PlanProposed) and asked:
            so_far = tuple(to_json(one) for one in run.events[:asked])
            marks = (*tags, reason, run.status)
            yield Row(f"{name}, question {number}", run.board.goal, tools, so_far, marks)
            asked = 0


def rows_from_transcript(transcript: Transcript, variant: str = "whole") -> list[Row]:
    """Return a row for each time that a recorded model was asked: its id is the number of the sample."""
    asked = transcript.variants[variant]
    words = tool_words(arithmetic.TOOLS)
    return [Row(str(sample.number), asked.goal, words, (), (variant,)) for sample in transcript.of(variant)]
