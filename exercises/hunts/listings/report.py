"""A model plans a research task, tools run it, and a failure leads to a new plan.

The model answers with JSON of the type that `form` names. Its plans are valid, except
for the names of the tools. A plan has at least one step. A step has an id, a number;
a tool, which takes one argument, `input`; and depends_on, a list of ids. Steps can be
listed in any order: a step runs when all of its dependencies have succeeded. If the
whole input is {step_1_result}, it means the result of step 1; inside a longer text,
it means that result as text. A step fails if its tool raises or does not exist. The
answer is the result of the step that no step depends on. A new plan keeps the ids of
the done steps.
"""

import json

RULES = "Write a plan as JSON: a list of steps with id, tool, input and depends_on."


def plan(ask, goal, tools, remarks):
    question = f"{RULES}\nTools: {sorted(tools)}\nGoal: {goal}\n{remarks}"
    parsed = json.loads(ask(question, form="json_object"))
    return parsed.get("steps", parsed) if isinstance(parsed, dict) else parsed


def fill(text, results):
    for id, result in results.items():
        text = text.replace(f"{{step_{id}_result}}", str(result))
    return text


def carry_out(steps, tools):
    results = {}
    for step in steps:
        given = fill(step["input"], results)
        if step["tool"] not in tools:
            results[step["id"]] = f"noted: {given}"
            continue
        try:
            results[step["id"]] = tools[step["tool"]](given)
        except Exception as error:
            results[step["id"]] = f"ERROR: {error}"
    return results


def run(ask, goal, tools, max_replans=2):
    """Return the answer, or None if `max_replans` new plans failed as well."""
    remarks = ""
    for _ in range(1 + max_replans):
        steps = plan(ask, goal, tools, remarks)
        results = carry_out(steps, tools)
        failed = {n: one for n, one in results.items() if str(one).startswith("ERROR")}
        if not failed:
            return results[max(results)]
        remarks = f"These steps failed: {failed}"
    return None
