"""A failed test rolls the site back by a year

Lesson 09 · difficulty 2 of 5 · 10 minutes

The tests of a release fail before anything is deployed. Afterwards the oldest version is live.

    calls: run_tests, tell_team
    live: version 2
"""

# %% program
"""Carry out a plan; when a step fails, make the calls of the plan's rollback list."""


def run(plan, tools):
    """Carry out a plan, and return the calls of steps and of rollback entries, in order.

    A step is {"id", "tool"}. It can have "when", the name of a tool: if that tool returns
    False, the step is skipped. A rollback entry is {"tool"}, and can have "of", the id of
    the step that it undoes. The entries are called in order: those whose step was done, and
    those without "of".
    """
    calls, results = [], {}
    for step in plan["steps"]:
        if "when" in step and not tools[step["when"]]():
            continue
        try:
            calls.append(step["tool"])
            results[step["id"]] = tools[step["tool"]]()
        except Exception:
            for entry in plan["rollback"]:
                calls.append(entry["tool"])
                tools[entry["tool"]]()
            break
    return calls


class Site:
    """Version 2 is live; the backup of version 1 is a year old."""

    def __init__(self):
        self.live = "version 2"
        names = "run_tests deploy restore_backup tell_team"
        self.tools = {name: getattr(self, name) for name in names.split()}

    def run_tests(self):
        raise AssertionError("3 tests fail")

    def deploy(self):
        self.live = "version 3"

    def restore_backup(self):
        self.live = "version 1"

    def tell_team(self):
        pass


PLAN = {
    "steps": [{"id": "1", "tool": "run_tests"}, {"id": "2", "tool": "deploy"}],
    "rollback": [{"tool": "restore_backup", "of": "2"}, {"tool": "tell_team"}],
}

if __name__ == "__main__":
    site = Site()
    print("calls:", ", ".join(run(PLAN, site.tools)))
    print("live:", site.live)


# %% test
def calls(program, broken, rollback, when=None):
    """The calls of a plan a, b, c, d; step `broken` fails, step `when` is skipped."""

    def breaks():
        raise ArithmeticError("broken")

    steps = [{"id": id, "tool": f"do {id}"} | ({"when": "never"} if id == when else {}) for id in "abcd"]
    tools = {f"do {id}": breaks if id == broken else (lambda: None) for id in "abcd"}
    undone = []
    tools |= {entry["tool"]: lambda name=entry["tool"]: undone.append(name) for entry in rollback}
    made = program.run({"steps": steps, "rollback": rollback}, tools | {"never": lambda: False})
    assert undone == [name for name in made if not name.startswith("do ")], (
        f"it reports the calls {made}; of the rollback list, {undone} were made"
    )
    return made


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


# %% hints
HINT = """The rollback list was written for the worst case. Compare it with what had run before the failure."""
QUESTION = """What must you know about a step before you undo it? Where is that recorded?"""
SEEN = """"The Planner-Executor pattern explained", an article: on the first failure its executor carries out the whole
rollback list. If the tests fail, it rolls back a production system that was never deployed."""
