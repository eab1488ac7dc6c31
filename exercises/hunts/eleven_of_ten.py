"""All items are done, and one was never begun

Lesson 16 · difficulty 2 of 5 · 10 minutes

An agent keeps its own todo list. At the end it reports that no item is open. One item of the goal was never begun.

    done: clock, refuse, fix refuse, add a test
    open: nothing
"""

# %% program
"""Keep a todo list while an agent works: a call that fails adds an item."""

MOST = 3  # lines that a screen has room for


def rewritten(todos, item, failed):
    """Return the list after the call for an item, as a new list of (text, done), in order.

    The item is done. If its call failed, a new open item, "fix" and the item's text, comes
    right after it. No item is ever removed: `shown` is for lists that are too long.
    """
    after = [(text, done or text == item) for text, done in todos]
    if failed:
        place = [text for text, _ in after].index(item) + 1
        after.insert(place, (f"fix {item}", False))
    return after[:MOST]


def shown(todos):
    """Return the texts of the first `MOST` open items, in order."""
    return [text for text, done in todos if not done][:MOST]


def work(goal, call):
    """Call the first open item until none is open, and return the list.

    A call returns True if it succeeded.
    """
    todos = [(text, False) for text in goal]
    while shown(todos):
        item = shown(todos)[0]
        todos = rewritten(todos, item, failed=not call(item))
    return todos


if __name__ == "__main__":
    todos = work(["clock", "refuse", "add a test"], lambda item: item != "refuse")
    print("done:", ", ".join(text for text, done in todos if done))
    print("open:", ", ".join(shown(todos)) or "nothing")


# %% test
def test_every_item_of_the_goal_is_called(program):
    called = []

    def call(item):
        called.append(item)
        return item != "b"

    came = program.work("abcdefghijklmnopqrstuvwxyz", call)
    wanted = ["a", "b", "fix b", *"cdefghijklmnopqrstuvwxyz"]
    assert called == wanted, f"the goal is a to z, and b failed; called: {called}"
    assert came == [(text, True) for text in wanted], f"the goal is a to z, and b failed; the list at the end: {came}"


def test_a_failed_call_adds_an_item_right_after_it_and_removes_none(program):
    todos = [("a", True), ("b", False), ("c", False)]
    came = program.rewritten(todos, "b", failed=True)
    wanted = [("a", True), ("b", True), ("fix b", False), ("c", False)]
    assert came == wanted, f"b failed in {todos}; the new list: {came}"


def test_a_call_that_succeeded_adds_nothing(program):
    todos = [("a", False), ("b", False), ("c", False), ("d", True)]
    came = program.rewritten(todos, "a", failed=False)
    wanted = [("a", True), ("b", False), ("c", False), ("d", True)]
    assert came == wanted, f"a succeeded in {todos}; the new list: {came}"


def test_the_screen_shows_the_first_open_items_only(program):
    todos = [("a", True), ("b", False), ("c", False), ("d", False), ("e", False)]
    came = program.shown(todos)
    assert came == ["b", "c", "d"], f"open: b, c, d, e; the screen has room for three; shown: {came}"


def test_the_old_list_is_not_changed(program):
    todos = [("a", False), ("b", False)]
    program.rewritten(todos, "a", failed=True)
    assert todos == [("a", False), ("b", False)], f"the list before the rewrite is now {todos}"


# %% hints
HINT = """Print the list after each rewrite. Compare its length with the number of items that you expect."""
QUESTION = """Two functions make a long list short. Which of them is only about the screen?"""
SEEN = """opencode, issue 5934 (version 1.0.185): todo lists were lost when the context was compacted.
Cline's telemetry has an event for tasks that end while their checklist has open items."""
