"""Carry out a plan; when a step fails, ask the planner for the remaining steps."""


def run(plan, tools, replan, most=3):
    """Carry out the plan and return the steps that were done, in order.

    When a step fails, `replan(failed)` returns the steps that replace everything not done yet. The planner is called at
    most `most` times; the next failure ends the run.
    """
    done = []
    for step in plan:
        try:
            tools[step]()
            done.append(step)
        except Exception:
            plan = replan(step)
    return done


def smoke_tests():
    raise RuntimeError("401 at three endpoints")


TOOLS = {"deploy to staging": lambda: None, "smoke tests": smoke_tests, "deploy to production": lambda: None}
TOOLS |= {"roll back staging": lambda: None, "tell the team": lambda: None}

if __name__ == "__main__":
    plan = ["deploy to staging", "smoke tests", "deploy to production"]
    for step in run(plan, TOOLS, replan=lambda failed: ["roll back staging", "tell the team"]):
        print("done:", step)
