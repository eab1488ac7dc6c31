"""Our parts of the capstone, one after the other: new definitions, and new versions of earlier ones."""

# %% capstone.1
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


# %% capstone.2


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


# %% capstone.3
import json


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


# %% capstone.5


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


class Paused(Exception):
    pass


class Desk:
    def __init__(self, planner):
        self.planner, self.plan, self.approved = planner, None, set()

    def __call__(self, goal, results, errors):
        if self.plan is None or errors:
            self.plan = self.planner(goal, results, errors)
        text = json.dumps(self.plan, sort_keys=True)
        self.hash = hashlib.sha256(text.encode()).hexdigest()[:8]
        if self.hash not in self.approved:
            raise Paused(f"nobody approved {self.hash}")
        return self.plan


# %% capstone.8
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait


class Threads(ThreadPoolExecutor):
    slots = 4

    def wait(self, running):
        return wait(running, return_when=FIRST_COMPLETED).done


def carry_out(plan, results, tools, workers, judge, log):
    waiting, running, errors = list(plan), {}, {}
    while True:
        for step in ready(waiting, results)[: workers.slots - len(running)]:
            waiting.remove(step)
            log.append(("StepStarted", step["id"]))
            params = resolve(step["params"], results)
            running[workers.submit(tools[step["tool"]], **params)] = step
        if not running:
            return errors
        for future in sorted(workers.wait(running), key=list(running).index):
            step, fault = running.pop(future), future.exception()
            log.append(("StepFailed" if fault else "StepDone", step["id"]))
            if fault := fault or (judge and judge(step, future.result())):
                errors[step["id"]] = str(fault)
            else:
                results[step["id"]] = future.result()


def run(goal, planner, tools, workers=None, judge=None, state=None, asks=2):
    results, log, errors = *(state or ({}, [])), {}
    for _ in range(asks):
        plan = planner(goal, dict(results), errors)
        if faults := problems(plan, tools, results):
            return {"status": "failed", "results": results, "reason": str(faults)}
        errors = carry_out(plan, results, tools, workers or Threads(), judge, log)
        if not errors:
            return {"status": "finished", "results": results, "reason": "all is done"}
    return {"status": "failed", "results": results, "reason": f"{errors}, asks={asks}"}


class Simulated:
    def __init__(self, slots, seconds):
        self.slots, self.seconds, self.now = slots, seconds, 0.0

    def submit(self, tool, **params):
        future = Future()
        try:
            future.set_result(tool(**params))
        except Exception as error:
            future.set_exception(error)
        future.ends = self.now + self.seconds(tool, params)
        return future

    def wait(self, running):
        self.now = min(future.ends for future in running)
        return [future for future in running if future.ends == self.now]


# %% capstone.9


def rollback(plan, results, tools):
    calls = map({step["id"]: step.get("undo") for step in plan}.get, reversed(results))
    return [tools[c["tool"]](**resolve(c["params"], results)) for c in calls if c]


# %% capstone.10


class Shelf(dict):
    def __setitem__(self, id, result):
        super().__setitem__(id, result)
        self.path.write_text(json.dumps(self))
