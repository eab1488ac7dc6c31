"""A step in words, for an executor that asks a model: what to do, when it is done, and earlier results as data."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from planexec_lite.model.marking import DATA_RULE, data_line, json_line, one_line
from planexec_lite.plan import Step
from planexec_lite.references import find, resolve


def task_text(step: Step, inputs: Mapping[str, Any], most: int | None = None) -> str:
    """Return the task, its parameters, its criterion and the results that the step depends on, each on a line of its own.

    `most` bounds the characters of the parameters and of each result. A line before the results marks them as data.
    """
    lines = [one_line(step.description or str(step))]
    if step.params:
        write = data_line if find(step.params) else json_line  # a reference brings in what a tool returned
        lines.append(f"Use: {write(resolve(step.params, inputs), most)}")
    lines += [f"Done when: {one_line(step.success_criteria)}"] if step.success_criteria else []
    lines += [DATA_RULE] if inputs else []
    lines += [f"Result of step {id}: {data_line(value, most)}" for id, value in inputs.items()]
    return "\n".join(lines)
