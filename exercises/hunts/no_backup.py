"""A backup that was never made

Lesson 03 · difficulty 2 of 5 · 10 minutes

The run has finished, and each step has a result. There is no backup.

    refused, before anything ran
"""

# %% program
"""Carry out a plan whose steps name their tools."""


def run_plan(steps, tools):
    """Carry out steps, given as (id, tool) pairs; return the results by id.

    A step with the tool "none" is a note for the reader; its result is None. The plan is
    checked before any step runs: a ValueError names each step whose tool does not exist.
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


# %% test
def attempt(program, steps):
    """Return the run's ValueError, or None, and the tools that were called."""
    called = []
    tools = {name: lambda name=name: called.append(name) or name for name in ("read", "write", "send")}
    try:
        program.run_plan(steps, tools)
    except ValueError as error:
        return str(error), called
    return None, called


def test_a_plan_with_an_unknown_tool_is_refused(program):
    error, _ = attempt(program, [("s1", "raed")])
    assert error is not None, (
        "step s1 names the tool 'raed', which does not exist; the run ended as if it had succeeded"
    )
    assert "s1" in error, f"the error should name the step s1, whose tool 'raed' does not exist; it says {error!r}"


def test_nothing_runs_before_the_plan_is_checked(program):
    error, called = attempt(program, [("s1", "read"), ("s2", "wriet"), ("s3", "send")])
    assert error is not None, "step s2 names the tool 'wriet', which does not exist"
    assert called == [], f"step s2 has an unknown tool, and these tools had already run: {called}"


def test_every_unknown_tool_is_named_at_once(program):
    error, _ = attempt(program, [("s1", "raed"), ("s2", "write"), ("s3", "sned"), ("s4", "raed")])
    named = [id for id in ("s1", "s2", "s3", "s4") if id in (error or "")]
    assert named == ["s1", "s3", "s4"], f"s1, s3 and s4 have unknown tools; the error says {error!r}"


def test_a_note_is_not_a_tool(program):
    error, called = attempt(program, [("s1", "none"), ("s2", "read")])
    assert error is None, f"s1 is a note, s2 reads; the run raised {error!r}"
    assert called == ["read"], f"s1 is a note, s2 reads; called: {called}"
    results = program.run_plan([("s1", "none")], {})
    assert results == {"s1": None}, f"s1 is a note, and its result is None; the results: {results}"


# %% hints
HINT = """Read the condition again. Two very different kinds of step reach the same line."""
QUESTION = """If a tool's name in the plan is wrong, when could you detect that at the earliest, and which steps have run by
then?"""
SEEN = """A tutorial, "Planner-Executor architecture": a tool that is not in the table gives the result "No tool, step
noted". Of 1,971 plans by small models for the TaskBench tasks, 32 in 100 name an unknown tool."""
