"""Checks for lesson 16: agents of today, and appendix A8."""

from __future__ import annotations

from typing import Any

from exercises.checker.checks import said
from exercises.checker.exercise import Trial, exercise, shown

OPEN = "An open item, or one in progress, is lost if the new list does not have its text."
MARK = "The mark of an item can change. Compare the text after it."
DONE = "A done item may leave the list."
EACH = "An item that is twice in the old list must be twice in the new one; report each missing one, in the old order."
_A, _B, _C = "[x] read", "[>] edit", "[ ] test"
_LISTS: tuple[tuple[list[str], list[str], list[str], str], ...] = (
    ([_A, _B, _C], [_A, "[x] edit"], ["test"], OPEN),
    ([_A, _B, _C], [_A, _C], ["edit"], OPEN),
    ([_A, _B, _C], [_B, _C], [], DONE),
    ([_B, _C], ["[>] test", "[x] edit"], [], MARK),
    ([_B, _C], ["[ ] test it"], ["edit", "test"], "Compare the whole text of an item."),
    ([_C, _B, _C], ["[>] test"], ["edit", "test"], EACH),
    ([_C, _B, _C], [], ["test", "edit", "test"], EACH),
    ([_C, _A, _C], ["[x] test", "[ ] test"], [], EACH),
    ([], [_C], [], "A new item is no loss."),
)


@exercise(
    "16.1",
    nudge="Collect the texts of the new list in a list of their own. Then take the old items one by one.",
    question="How do you notice the second of two equal items, if the new list has only one?",
    learned="A list that a model rewrites is safe only if a program compares the old one with the new one.",
)
def nothing_disappears(trial: Trial, lost: Any) -> None:
    """A function of two todo lists: it returns the texts of the items that got lost."""
    for old, new, expected, rule in _LISTS:
        came = trial.call(lost, old, new)
        trial.want(isinstance(came, list) and shown(came) == shown(expected), repr(expected), rule)


PASSES_LIST = "The allow-list looks at the path and at nothing else."
PASSES_HASH = "A hash covers a whole call: its path and its text, exactly as approved."


@exercise(
    "16.2",
    nudge="Read the rule of each protection aloud for each call. Look at what it compares, and at what it does not.",
    question="Which part of call C differs from the approved call, and does the allow-list read this part?",
    learned="An allow-list bounds what can be reached; a hash bounds what was read.",
)
def two_protections(trial: Trial, by_list: Any, by_hash: Any) -> None:
    """Two groups of letters: the calls that pass the allow-list, and those that pass the hash."""
    for name, guess, right, rule in (("by_list", by_list, "ACD", PASSES_LIST), ("by_hash", by_hash, "AB", PASSES_HASH)):
        trial.given(name, guess)
        letters = said.names(trial, guess, "ABCD", 'letters, as in "AB"', "Write the letters of the calls that pass.")
        wanted = f"the calls that {'the allow-list' if name == 'by_list' else 'the hash'} lets pass"
        trial.want(sorted(letters) == list(right), wanted, rule)


NOW = "Apply an edit to the text as it is now, after the edits before it."
ONCE = "Refuse an edit whose old text does not occur exactly once, and leave the text as it is."
NUMBERS = "The second result is the list of the refused edits' numbers, counted from 0."
_MERGES: tuple[tuple[str, list[tuple[str, str]], tuple[str, list[int]], str], ...] = (
    ("a b", [("a", "x"), ("b", "y")], ("x y", []), NOW),
    ("a b", [("a", "x"), ("a", "y")], ("x b", [1]), ONCE),
    ("a a", [("a", "x"), ("a a", "b")], ("b", [0]), ONCE),
    ("a", [("a", "b"), ("b", "c"), ("b", "d")], ("c", [2]), NOW),
    ("a b", [("z", "x"), ("q", "x"), ("b", "")], ("a ", [0, 1]), NUMBERS),
    ("ab", [("b", "b b"), ("b", "x"), ("a", "b")], ("bb b", [1]), ONCE),
    ("a", [], ("a", []), "Without edits, nothing changes."),
)


@exercise(
    "16.3",
    nudge="Two agents read the same file, and then both write it. Find the place where your function reads the text.",
    question="Which text does the second edit have to look at?",
    learned="An edit that names the old text finds out that another writer was there; a whole file does not.",
)
def two_writers(trial: Trial, merged: Any) -> None:
    """A function of a text and edits: it returns the new text and the numbers of the refused edits."""
    for text, edits, expected, rule in _MERGES:
        came = trial.call(merged, text, edits)
        trial.want(shown(came) == shown(expected), repr(expected), rule)


WORDS = "Keep every message of the roles system and user, in order and unchanged."
LAST = "An item is done if its last outcome is True: a later failure takes it back."
ORDER = "List each done item once, in the order in which the log names the items first."
NONE = "If nothing is done, add no message."
_S, _U, _V = (
    {"role": "system", "content": "s"},
    {"role": "user", "content": "u"},
    {"role": "user", "content": "no API"},
)
_T, _R = {"role": "assistant", "content": "t"}, {"role": "tool", "content": "r"}
_LOGS: tuple[tuple[list[dict[str, str]], list[tuple[str, bool]], list[dict[str, str]], str], ...] = (
    ([_S, _U, _T, _R], [("a", True)], [_S, _U, {"role": "user", "content": "done: a"}], WORDS),
    ([_S, _U, _T, _R, _V, _T], [], [_S, _U, _V], NONE),
    ([_S, _U], [("a", False), ("b", False)], [_S, _U], NONE),
    ([_U, _T], [("a", True), ("b", True)], [_U, {"role": "user", "content": "done: a, b"}], ORDER),
    ([_U], [("a", True), ("a", False), ("b", True)], [_U, {"role": "user", "content": "done: b"}], LAST),
    ([_U], [("a", False), ("b", True), ("a", True)], [_U, {"role": "user", "content": "done: a, b"}], ORDER),
    ([_V, _S, _T], [("b", True), ("a", True), ("b", True)], [_V, _S, {"role": "user", "content": "done: b, a"}], ORDER),
)


@exercise(
    "16.4",
    nudge="Two parts: choose the messages by their role, then compute from the log what is done.",
    question="Which value does a dict keep if a key is written a second time, and in which place?",
    learned="The person's words and the log survive a compaction; a summary is a claim about both.",
)
def what_survives(trial: Trial, compact: Any) -> None:
    """A function of a window and a log: it returns the smaller window."""
    for window, log, expected, rule in _LOGS:
        came = trial.call(compact, window, log)
        trial.want(isinstance(came, list) and shown(came) == shown(expected), repr(expected), rule)


SCORE = "A tool's score is the number of different words of the query that are in its name or description."
CASE = "Upper and lower case are equal, and an underscore separates words."
MOST = "Return at most `most` names; leave out tools with score 0."
TIES = "The best tool is first; tools with equal scores keep the order of the dict."
_TOOLS = {
    "send_mail": "Send a message to a person",
    "list_issues": "Show open issues",
    "create_issue": "Open an issue for a bug",
    "send_invoice": "Send a bill",
}
_QUERIES: tuple[tuple[str, int, list[str], str], ...] = (
    ("send a mail", 2, ["send_mail", "send_invoice"], TIES),
    ("OPEN Issues", 1, ["list_issues"], CASE),
    ("open issue", 3, ["create_issue", "list_issues"], MOST),
    ("send send send bug", 4, ["send_mail", "create_issue", "send_invoice"], SCORE),
    ("bug bill", 1, ["create_issue"], TIES),
    ("pay", 3, [], MOST),
    ("end", 3, [], "Compare whole words: 'end' is not in 'send'."),
    ("", 3, [], MOST),
    ("send", 0, [], MOST),
    ("a bill for a person", 9, ["send_mail", "create_issue", "send_invoice"], TIES),
)


@exercise(
    "16.5",
    nudge="Make a set of words for each tool, and one for the query. Then count what they share.",
    question="What does sorting do with two tools of the same score?",
    learned="A search puts a few tools into the window instead of all; what it does not find, the model can't choose.",
)
def found_tools(trial: Trial, search: Any) -> None:
    """A function of tools, a query and a number: it returns the names of the best tools."""
    turned = dict(reversed(_TOOLS.items()))
    cases = [(_TOOLS, *case) for case in _QUERIES] + [(turned, "send", 2, ["send_invoice", "send_mail"], TIES)]
    cases.append(({"print_label": "for parcels"}, "a label", 1, ["print_label"], "An underscore separates words."))
    for tools, query, most, expected, rule in cases:
        came = trial.call(search, tools, query, most)
        trial.want(isinstance(came, list) and shown(came) == shown(expected), repr(expected), rule)
