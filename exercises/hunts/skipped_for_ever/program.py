"""Run the steps of a plan, each after its dependencies."""

PLAN = [
    {"id": "report", "depends_on": ["summary"]},
    {"id": "summary", "depends_on": ["search"]},
    {"id": "search", "depends_on": []},
]


def run_plan(steps):
    """Run every step that can ever start, once; return the ids in the order in which they ran.

    The planner can list the steps in any order. Steps that depend on each other in a cycle can never start.
    """
    done = []
    for step in steps:
        if any(needed not in done for needed in step["depends_on"]):
            continue
        done.append(step["id"])  # the work itself is left out
    return done


if __name__ == "__main__":
    ran = run_plan(PLAN)
    for step in PLAN:
        print(f"{step['id']:8} {'done' if step['id'] in ran else 'never started'}")
