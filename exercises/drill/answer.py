"""A planner-executor from memory. A step is a dict: id, tool, params, after. {"from": "1"} is the result of step 1."""

from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait


def problems(plan, tools, done):
    ids = [step["id"] for step in plan]
    faults = [f"two steps have the id {id}" for id in ids if ids.count(id) > 1]
    for step in plan:
        used = [value["from"] for value in step["params"].values() if isinstance(value, dict) and "from" in value]
        faults += [f"step {step['id']}: no tool {step['tool']}"] if step["tool"] not in tools else []
        faults += [f"step {step['id']}: uses {id} and does not wait for it" for id in used if id not in step["after"]]
    placed = set(done)
    while ready := [s["id"] for s in plan if s["id"] not in placed and placed.issuperset(s["after"])]:
        placed.update(ready)
    return faults + [f"step {id} can never start" for id in ids if id not in placed]


def fill(params, results):
    def place(value):
        return results[value["from"]] if isinstance(value, dict) and "from" in value else value

    return {name: place(value) for name, value in params.items()}


def carry_out(plan, tools, results, pool):
    waiting = {step["id"]: step for step in plan if step["id"] not in results}
    running, errors = {}, {}
    while True:
        for id in [id for id, step in waiting.items() if all(other in results for other in step["after"])]:
            step = waiting.pop(id)
            running[pool.submit(tools[step["tool"]], **fill(step["params"], results))] = id
        if not running:
            return errors
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            id, error = running.pop(future), future.exception()
            if error:
                errors[id] = str(error)
            else:
                results[id] = future.result()


def run(goal, planner, tools, slots=4, max_replans=1):
    results, errors = {}, {}
    with ThreadPoolExecutor(slots) as pool:
        for _ in range(1 + max_replans):
            plan = planner(goal, dict(results), errors)
            if faults := problems(plan, tools, results):
                return {"status": "failed", "results": results, "reason": "; ".join(faults)}
            errors = carry_out(plan, tools, results, pool)
            if not errors:
                return {"status": "finished", "results": results, "reason": f"{len(results)} steps done"}
    return {"status": "failed", "results": results, "reason": f"{errors}; max_replans={max_replans}"}
