"""My planner-executor. A step is a dict: id, tool, params, depends_on."""

import re

REFERENCE = re.compile(r"\{step_(\w+?)_result\}")


def resolve(params, results):
    def value_of(value):
        alone = REFERENCE.fullmatch(str(value))
        return results[alone[1]] if alone else value

    return {name: value_of(value) for name, value in params.items()}


def carry_out(plan, results, tools, log):
    for step in plan:
        log.append(("StepStarted", step["id"]))
        results[step["id"]] = tools[step["tool"]](**resolve(step["params"], results))
        log.append(("StepDone", step["id"]))


def run(goal, planner, tools, state=None):
    results, log = state or ({}, [])
    log.append(("PlanStarted", ""))
    plan = planner(goal, dict(results))
    log.append(("PlanProposed", ""))
    carry_out(plan, results, tools, log)
    return results


def react(task, model, tools, log, turns=10):
    text = f"Tools: {', '.join(tools)}\nTask: {task}"
    for _ in range(turns):
        thought, action, params = model(text)
        log.append(("Thought", thought))
        if action == "answer":
            return params
        log.append(("Action", action))
        seen = tools[action](**params)
        text += f"\nThought: {thought}\nAction: {action}\nObservation: {seen}"
    raise RuntimeError(f"not done after {turns} turns")
