"""Our parts of the capstone, one after the other: new definitions, and new versions of earlier ones.

A definition that stays until the end is imported from the finished program; `solution` shows it.
"""

# %% capstone.1
import re
from exercises.capstone.program import REFERENCE


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


# %% capstone.2
from exercises.capstone.program import react


# %% capstone.3
import json
from exercises.capstone.program import ready, problems


def carry_out(plan, results, tools, log):
    waiting = list(plan)
    while steps := ready(waiting, results):
        step = steps[0]
        waiting.remove(step)
        log.append(("StepStarted", step["id"]))
        results[step["id"]] = tools[step["tool"]](**resolve(step["params"], results))
        log.append(("StepDone", step["id"]))


def run(goal, planner, tools, state=None):
    results, log = state or ({}, [])
    log.append(("PlanStarted", ""))
    plan = planner(goal, dict(results))
    log.append(("PlanProposed", ""))
    if faults := problems(plan, tools, results):
        return {"status": "failed", "results": results, "reason": str(faults)}
    carry_out(plan, results, tools, log)
    return {"status": "finished", "results": results, "reason": "all is done"}


# %% capstone.4
def run(goal, planner, tools, state=None):
    results, log = state or ({}, [])
    plan = planner(goal, dict(results), {})
    if faults := problems(plan, tools, results):
        return {"status": "failed", "results": results, "reason": str(faults)}
    carry_out(plan, results, tools, log)
    return {"status": "finished", "results": results, "reason": "all is done"}


from exercises.capstone.program import repaired


# %% capstone.5
from exercises.capstone.program import resolve


def carry_out(plan, results, tools, log):
    waiting, errors = list(plan), {}
    while steps := ready(waiting, results):
        step = steps[0]
        waiting.remove(step)
        log.append(("StepStarted", step["id"]))
        try:
            results[step["id"]] = tools[step["tool"]](**resolve(step["params"], results))
        except Exception as error:
            errors[step["id"]] = str(error)
        log.append(("StepFailed" if step["id"] in errors else "StepDone", step["id"]))
    return errors


def run(goal, planner, tools, state=None):
    results, log = state or ({}, [])
    plan = planner(goal, dict(results), {})
    if faults := problems(plan, tools, results):
        return {"status": "failed", "results": results, "reason": str(faults)}
    errors = carry_out(plan, results, tools, log)
    if not errors:
        return {"status": "finished", "results": results, "reason": "all is done"}
    return {"status": "failed", "results": results, "reason": f"{errors}"}


# %% capstone.6
def carry_out(plan, results, tools, judge, log):
    waiting, errors = list(plan), {}
    while steps := ready(waiting, results):
        step, fault = steps[0], None
        waiting.remove(step)
        log.append(("StepStarted", step["id"]))
        try:
            result = tools[step["tool"]](**resolve(step["params"], results))
        except Exception as error:
            fault = error
        log.append(("StepFailed" if fault else "StepDone", step["id"]))
        if fault := fault or (judge and judge(step, result)):
            errors[step["id"]] = str(fault)
        else:
            results[step["id"]] = result
    return errors


def run(goal, planner, tools, judge=None, state=None, asks=2):
    results, log, errors = *(state or ({}, [])), {}
    for _ in range(asks):
        plan = planner(goal, dict(results), errors)
        if faults := problems(plan, tools, results):
            return {"status": "failed", "results": results, "reason": str(faults)}
        errors = carry_out(plan, results, tools, judge, log)
        if not errors:
            return {"status": "finished", "results": results, "reason": "all is done"}
    return {"status": "failed", "results": results, "reason": f"{errors}, asks={asks}"}


# %% capstone.7
import hashlib
from exercises.capstone.program import Paused, Desk


# %% capstone.8
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from exercises.capstone.program import Threads, carry_out, run, Simulated


# %% capstone.9
from exercises.capstone.program import rollback


# %% capstone.10
from exercises.capstone.program import Shelf
