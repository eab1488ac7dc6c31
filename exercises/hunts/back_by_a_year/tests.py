def calls(program, broken, rollback, when=None):
    """The calls of a plan a, b, c, d; step `broken` fails, step `when` is skipped."""

    def breaks():
        raise RuntimeError("broken")

    steps = [{"id": id, "tool": f"do {id}"} | ({"when": "never"} if id == when else {}) for id in "abcd"]
    tools = {f"do {id}": breaks if id == broken else (lambda: None) for id in "abcd"}
    tools |= {f"undo {id}": lambda: None for id in "abcd"} | {"tell": lambda: "told", "never": lambda: False}
    return program.run({"steps": steps, "rollback": rollback}, tools)


UNDO = [{"tool": f"undo {id}", "of": id} for id in "dcba"] + [{"tool": "tell"}]


def test_a_step_that_did_not_run_is_not_undone(program):
    made = calls(program, "b", UNDO)
    assert not {"undo c", "undo d"} & set(made), f"b failed, so c and d never ran; the calls were {made}"


def test_the_failed_step_is_not_undone(program):
    made = calls(program, "b", UNDO)
    assert "undo b" not in made, f"b failed, so it was not done; the calls were {made}"


def test_finished_steps_are_undone(program):
    made = calls(program, "c", UNDO)
    assert made == ["do a", "do b", "do c", "undo b", "undo a", "tell"], (
        f"a and b were done, c failed; the calls were {made}"
    )


def test_a_skipped_step_is_not_undone(program):
    made = calls(program, "c", UNDO, when="b")
    assert made == ["do a", "do c", "undo a", "tell"], (
        f"b was skipped by its condition, c failed; the calls were {made}"
    )


def test_an_entry_that_undoes_no_step_is_always_called(program):
    made = calls(program, "a", UNDO)
    assert made == ["do a", "tell"], f"the first step failed, and tell undoes nothing; the calls were {made}"


def test_without_a_failure_nothing_is_undone(program):
    made = calls(program, None, UNDO)
    assert made == ["do a", "do b", "do c", "do d"], f"nothing failed; the calls were {made}"
