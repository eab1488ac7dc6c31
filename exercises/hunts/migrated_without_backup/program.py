"""Run the steps of a plan in the order of their dependencies."""

OVER = ("done", "failed")


def run_plan(steps, tools):
    """Run a plan, {step: its dependencies}; return the outcome of each step, by step.

    The outcome is "done", "failed" (its tool raised), or "skipped" (a dependency was not done).
    """
    became = {}
    while True:
        ready = [
            step
            for step, needs in steps.items()
            if step not in became and all(became.get(needed) in OVER for needed in needs)
        ]
        if not ready:
            return became
        for step in ready:
            try:
                tools[step]()
                became[step] = "done"
            except Exception:
                became[step] = "failed"


def backup():
    raise OSError("the disk is full")


PLAN = {"backup": [], "migrate": ["backup"], "verify": ["migrate"], "notify": []}
TOOLS = {"backup": backup, "migrate": lambda: None, "verify": lambda: None, "notify": lambda: None}

if __name__ == "__main__":
    became = run_plan(PLAN, TOOLS)
    for step in PLAN:
        print(f"{step:8} {became.get(step)}")
