"""My planner-executor. A step is a dict: id, tool, params, depends_on."""

import json
import re

REFERENCE = re.compile(r"\{step_(\w+?)_result\}")


def resolve(value, results):
    if isinstance(value, dict):
        return {name: resolve(part, results) for name, part in value.items()}
    if isinstance(value, list):
        return [resolve(part, results) for part in value]
    if not isinstance(value, str):
        return value
    if alone := REFERENCE.fullmatch(value):
        return results[alone[1]]
    return REFERENCE.sub(lambda found: str(results[found[1]]), value)


def ready(plan, done):
    return [s for s in plan if s["id"] not in done and set(done) >= set(s["depends_on"])]


def problems(plan, tools, results):
    ids, placed = [step["id"] for step in plan], set(results)
    faults = [f"two steps have the id {id}" for id in set(ids) if ids.count(id) > 1]
    faults += [f"no tool {step['tool']}" for step in plan if step["tool"] not in tools]
    for step in plan:
        used = REFERENCE.findall(json.dumps(step["params"]))
        missing = [id for id in used if id not in step["depends_on"]]
        faults += [f"step {step['id']} does not wait for {id}" for id in missing]
    while wave := ready(plan, placed):
        placed.update(step["id"] for step in wave)
    return faults + [f"step {id} can never start" for id in ids if id not in placed]


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


def repaired(planner, tools, log, attempts=3):
    def ask(goal, results, errors):
        for _ in range(attempts):
            log.append(("PlanStarted", ""))
            try:
                plan = planner(goal, results, errors)
                faults = problems(plan, tools, results)
            except ValueError as no_plan:
                faults = [str(no_plan)]
            log.append(("PlanProposed", ""))
            if not faults:
                return plan
            errors = {"plan": faults}
        raise ValueError(f"no valid plan after {attempts} attempts: {faults}")

    return ask


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
