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
    named = "s1" in error and "raed" in error
    assert named, f"the error should name the step s1 and the tool raed; it says {error!r}"


def test_nothing_runs_before_the_plan_is_checked(program):
    error, called = attempt(program, [("s1", "read"), ("s2", "wriet"), ("s3", "send")])
    assert error is not None, "step s2 names the tool 'wriet', which does not exist"
    assert called == [], f"step s2 has an unknown tool, and these tools had already run: {called}"


def test_every_unknown_tool_is_named_at_once(program):
    error, _ = attempt(program, [("s1", "raed"), ("s2", "write"), ("s3", "sned")])
    named = error is not None and "s1" in error and "s3" in error
    assert named, f"s1 and s3 have unknown tools; the error says {error!r}"


def test_a_note_is_not_a_tool(program):
    error, called = attempt(program, [("s1", "none"), ("s2", "read")])
    assert error is None, f"s1 is a note, s2 reads; the run raised {error!r}"
    assert called == ["read"], f"s1 is a note, s2 reads; called: {called}"
