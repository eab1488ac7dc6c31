"""A model plans a piece of research, tools do it, and what failed is planned anew.

An answer of the model is JSON in the form that is asked for, and its plans are
valid, but for the tools that they name. A plan has at least one step. A step has an
id, a number; a tool, which gets one thing, `input`; and depends_on, a list of ids.
Steps may be listed in any order: one runs when all that it depends on has worked.
An input that is {step_1_result} is what came of step 1; among other words it is the
text of that. A step whose tool raises has failed, and so has one whose tool does
not exist. The answer is what came of the step that no other depends on. A new plan
keeps the ids of what is done.
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


def run(ask, goal, tools, most=2):
    """Return the answer, or None when there is none after `most` new plans."""
    remarks = ""
    for _ in range(1 + most):
        steps = plan(ask, goal, tools, remarks)
        results = carry_out(steps, tools)
        failed = {n: one for n, one in results.items() if str(one).startswith("ERROR")}
        if not failed:
            return results[max(results)]
        remarks = f"These steps failed: {failed}"
    return None
