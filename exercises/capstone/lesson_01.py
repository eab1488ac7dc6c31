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
