"""A scripted coding agent: a model with rules that changes the shop in small edits, and knows only what is in its window.

Its work is the lines of the goal that begin with a dash, each read by its first word. It makes the same mistake in every design:
its first check of a session's age fails for an unknown session, which the project's tests notice. Three more rules are weaknesses
of a model without a board around it: a todo list has at most `most` lines; an item is done as soon as its call came back; and
what is no longer in the window was never said.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os.path import commonprefix
from typing import TYPE_CHECKING, Any

from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen, observed
from planexec_lab.worlds.minds import script as script_of
from planexec_lite.tools import Toolbox

if TYPE_CHECKING:
    from mock_llm import MockLLM, Reply, Request

CONSTRAINT = "Another team reads auth.SESSIONS: keep it a dict of session and user name."
GOAL = f"""Sessions of the shop never end. Let a session end after 30 minutes.
- give auth.py a clock
- keep the time of each login
- refuse an old session
- run the tests
- add a test
{CONSTRAINT}"""

THOROUGH = f"""Sessions of the shop never end. Let a session end after 30 minutes.
- read the code that uses auth
- give auth.py a clock
- keep the time of each login
- refuse an old session
- add a test
- run the tests
{CONSTRAINT}"""

SYSTEM = """Role: executor
Think, then call one tool. When the goal is reached, answer without a call."""

AUTH, TESTS = "shop/auth.py", "tests/test_auth.py"
_KNOWN_BY = {AUTH: "SESSIONS.get(session", TESTS: "auth.log_out(session)"}
_OPEN, _NOW, _DONE = "[ ] ", "[>] ", "[x] "

_CLOCK, _KEEP = "import secrets\n", "    SESSIONS[session] = name\n"
_REFUSE, _LAST_TEST = "    return SESSIONS.get(session)\n", "        assert auth.user_of(session) is None\n"
_TEST = """
    def test_a_session_ends_after_30_minutes(self):
        session = auth.log_in("ada", "{password}")
        {ages}
        assert auth.user_of(session) is None
"""
_EDITS = {  # verb -> file, old text, new text
    "give": (AUTH, _CLOCK, _CLOCK + "import time\n\nSTARTED = {}\n"),
    "keep": (AUTH, _KEEP, _KEEP + "    STARTED[session] = time.time()\n"),
    "refuse": (
        AUTH,
        _REFUSE,
        "    old = time.time() - STARTED[session] > 1800\n    return None if old else SESSIONS.get(session)\n",
    ),
    "fix": (AUTH, "STARTED[session] > 1800", "STARTED.get(session, 0) > 1800"),
    "add": (TESTS, _LAST_TEST, _LAST_TEST + _TEST.replace("{ages}", "auth.STARTED[session] -= 1801")),
}
_SHORTER = {  # the same with less code, if nothing in the window forbids it
    "give": (AUTH, _CLOCK, _CLOCK + "import time\n"),
    "keep": (AUTH, _KEEP, "    SESSIONS[session] = name, time.time()\n"),
    "refuse": (
        AUTH,
        _REFUSE,
        "    name, start = SESSIONS.get(session)\n    return name if time.time() - start <= 1800 else None\n",
    ),
    "fix": (AUTH, "SESSIONS.get(session)\n", "SESSIONS.get(session, (None, 0))\n"),
    "add": (TESTS, _LAST_TEST, _LAST_TEST + _TEST.replace("{ages}", 'auth.SESSIONS[session] = "ada", 0')),
}


@dataclass(frozen=True)
class Window:
    """What the model sees: all text, each call with its result, and the names of the offered tools."""

    text: str
    seen: Sequence[Seen]
    tools: frozenset[str] = frozenset({"read_file", "replace_in_file"})

    def knows(self, path: str) -> bool:
        """Whether the window has the text of the file that an edit needs."""
        calls = [one.params for one in self.seen if one.tool == "read_file" and one.result]
        return {"path": path} in calls or _KNOWN_BY[path] in self.text


def tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """The size of a window: four characters count as one token."""
    return len(json.dumps(messages)) // 4


def bill(requests: Sequence[str], cached: float = 1.0) -> float:
    """The tokens of all requests. A beginning that an earlier request had counts only `cached`, the share of the price."""
    characters = 0.0
    for place, request in enumerate(requests):
        same = [len(commonprefix([request, earlier])) for earlier in requests[:place]]  # noqa: RUF071 (texts, not paths)
        characters += len(request) - (1 - cached) * max(same, default=0)
    return characters / 4


def observe(tools: Toolbox, name: str, params: Mapping[str, Any]) -> str:
    """Call a tool for a model, and return its result or its error as text."""
    try:
        return json.dumps(tools[name].call(params))
    except Exception as error:
        return f"{type(error).__name__}: {error}"


class Coder:
    """The model.

    Args:
        goal: for the role of the planner, which is given results alone.
        most: the most lines of a todo list that it writes.
    """

    def __init__(self, goal: str = GOAL, most: int = 5) -> None:
        self.goal, self.most = goal, most

    def script(self) -> MockLLM:
        """Return the scripted model in the roles of planner, executor and summarizer."""
        return script_of(
            self, executor=self._acted, summarizer=lambda request: _summary(request.system, request.last.text)
        )

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return the next call toward the goal after the results `seen`."""
        return _work(Window(self.goal + "".join(str(one.result) for one in seen), seen))

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: that no test fails."""
        assumed: dict[str, Any] = {"failed": []}
        return Expectation(assumed, assumed) if act.tool == "run_test_suite" else Expectation(later)

    def _acted(self, request: Request) -> Reply:
        from mock_llm import Reply, ToolUse

        messages = request.body["messages"]
        called = [str(call["function"]) for message in messages for call in message.get("tool_calls") or ()]
        text = "\n".join([*(message.text for message in request.messages), *called])
        offered = frozenset(tool["function"]["name"] for tool in request.body.get("tools") or ())
        # a summary that names calls; their results are gone
        done = [Seen(tool, json.loads(params), "") for tool, params in re.findall(r"^done: (\w+) (\{.*)", text, re.M)]
        window = Window(text, [*done, *observed(messages)], offered)
        act = self._by_list(window) if "write_todos" in offered else _work(window)
        if isinstance(act, Answer):
            return Reply(text=act.text)
        return Reply(text=act.why, calls=[ToolUse(act.tool, dict(act.params))])

    def _by_list(self, window: Window) -> Act | Answer:
        """Do what the list says, and rewrite it after each item."""
        rewrites = [place for place, one in enumerate(window.seen) if one.tool == "write_todos"]
        accepted = [place for place in rewrites if not window.seen[place].failed]
        if not rewrites:
            return _written([_OPEN + item for item in _items(window.text)])
        lines = window.seen[accepted[-1]].params["todos"] if accepted else []
        last = window.seen[-1]
        if last.tool == "write_todos" and last.failed:
            return _written(_repaired(last.params["todos"], last.result))
        most = len(lines) + 1 if "is missing" in window.text else self.most  # after one refusal it drops nothing
        item = next((line[4:] for line in lines if line.startswith(_NOW)), None)
        if item is None:
            return Answer(f"Done: {len(lines)} of {len(lines)} items are completed.")
        act = _call(item, replace(window, seen=window.seen[accepted[-1] + 1 :]), window)
        return act or _written(_rewritten(lines, last)[:most])


def _rewritten(lines: Sequence[str], last: Seen) -> list[str]:
    """The list after an item's call: the item is done, and a failed test is a new item."""
    lines = [line.replace(_NOW, _DONE) for line in lines]
    if (problem := _problem(last)) and not any(line[4:].startswith("fix") for line in lines):
        place = next((place for place, line in enumerate(lines) if line.startswith(_OPEN)), len(lines))
        lines.insert(place, f"{_OPEN}fix: {problem}")
    return lines


def _written(lines: Sequence[str]) -> Act:
    """The call that stores the list; its first open item is in progress."""
    first = next((place for place, line in enumerate(lines) if line.startswith((_OPEN, _NOW))), len(lines))
    todos = [line.replace(_OPEN, _NOW) if place == first else line for place, line in enumerate(lines)]
    return Act("I update my list.", "write_todos", {"todos": todos})


def _repaired(lines: list[str], refusal: str) -> list[str]:
    """The list as a refusal wants it: items that it names as missing come back, and those without evidence are open again."""
    named = re.findall(r"'([^']+)' (is missing|has no evidence)", refusal)
    for item, fault in named:
        if fault == "is missing":
            lines.append(_OPEN + item)
        else:
            lines = [line for line in lines if line[4:] != item]
            fix = next((place + 1 for place, line in enumerate(lines) if line[4:].startswith("fix")), len(lines))
            lines.insert(fix, _OPEN + item)
    return [line.replace(_NOW, _OPEN) for line in lines]


def _work(window: Window) -> Act | Answer:
    """The next call without a list: the items of the goal in their order, and the tests until they pass."""
    if not window.tools & {"replace_in_file", "write_file"} and "Report" not in window.text:
        return _planned(window)
    runs = [place for place, one in enumerate(window.seen) if one.tool == "run_test_suite"]
    after = window.seen[runs[-1] + 1 :] if runs else ()
    problem = _problem(window.seen[runs[-1]]) if runs else ""
    for item in _items(window.text):
        if f"done: {item}" in window.text:
            continue
        if item.startswith("run") and problem:
            fix = _call(f"fix: {problem}", window, window)
            changed = any(one.tool == "replace_in_file" for one in after)
            return fix or (_run() if changed else Answer(f"Not done: {problem}."))
        if act := _call(item, window, window):
            return act
    return Answer(_report(window) if "Report" in window.text else "Done.")


def _planned(window: Window) -> Act | Answer:
    """What a model does that may only read: look at both files, and answer with a plan in words."""
    path = next((path for path in (AUTH, TESTS) if not window.knows(path)), None)
    if path:
        return Act(f"I look at {path}.", "read_file", {"path": path})
    items = enumerate(_items(window.text), 1)
    return Answer("Plan:\n" + "\n".join(f"{number}. {item}" for number, item in items))


def _run() -> Act:
    return Act("I run the tests.", "run_test_suite")


def _items(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r"^- (.+)$", text, re.M)))


def _problem(last: Seen) -> str:
    """The reason of a failed test run; "" where there is none."""
    if last.tool != "run_test_suite" or not isinstance(last.result, Mapping) or not last.result["failed"]:
        return ""
    return str(last.result["summary"])


def _call(item: str, recent: Window, window: Window) -> Act | None:
    """The next call for an item; None when its call is among the recent ones, or there is none."""
    verb = re.split(r"\W", item)[0]
    if verb == "read":
        return _reading(item, recent, window)
    if verb == "run":
        ran = any(one.tool == "run_test_suite" for one in recent.seen)
        return None if ran else _run()
    keeps = "auth.SESSIONS:" in window.text or "STARTED" in window.text
    path, old, new = (_EDITS if keeps else _SHORTER).get(verb, ("", "", ""))
    tried = old in [one.params.get("old") for one in recent.seen]
    if not path or tried:
        return None
    if "read_file" in window.tools and not window.knows(path):
        return Act(f"I look at {path}.", "read_file", {"path": path})
    if "{password}" in new:
        full = re.search(r"full result: (\w+)", window.text)
        if "engine" not in window.text and full and "read_result" in window.tools:
            return Act("I need a password of the tests.", "read_result", {"id": full[1], "text": "log_in("})
        new = new.replace("{password}", "engine" if "engine" in window.text else "secret")
    return Act(f"I {item}.", "replace_in_file", {"path": path, "old": old, "new": new})


def _reading(item: str, recent: Window, window: Window) -> Act | None:
    """Delegate the reading if a subagent is offered; else search, and read each file that the search names."""
    if "explore" in window.tools:
        asked = any(one.tool == "explore" for one in recent.seen)
        return None if asked else Act(f"I {item}.", "explore", {"question": item})
    matches = next((one.result for one in recent.seen if one.tool == "code_search"), None)
    if matches is None:
        return Act(f"I {item}.", "code_search", {"text": "import auth"})
    named = matches if isinstance(matches, list) else [TESTS]
    paths = [AUTH, *(line.partition(":")[0] for line in named)]
    read = [one.params["path"] for one in recent.seen if one.tool == "read_file"]
    path = next((path for path in paths if path not in read), None)
    return Act(f"I read {path}.", "read_file", {"path": path}) if path else None


def _report(window: Window) -> str:
    """A subagent's answer: the lines that the question is about, and no others."""
    texts = {one.params["path"]: one.result for one in window.seen if one.tool == "read_file"}
    telling = ("SESSIONS", "import secrets", "log_out(session)", "user_of(session)")
    lines = [
        f"{path}: {line.strip()}"
        for path in (AUTH, TESTS)
        for line in texts[path].splitlines()
        if any(word in line for word in telling)
    ]
    return "\n".join(lines)


def _summary(asked: str, told: str) -> str:
    """A summary of a conversation, with the parts that were asked for."""
    goal = told.partition("\n- ")[0].splitlines()
    done = [item for item in _items(told) if item.split()[0] in _EDITS and f"I {item}." in told]
    parts = {
        "goal": goal[-1:],
        "done": [f"done: {item}" for item in done],
        "open": [f"- {item}" for item in _items(told) if item not in done and not item.startswith("read")],
        "constraints": [CONSTRAINT] * (CONSTRAINT in told),
    }
    return "\n".join(line for name, lines in parts.items() if name in asked.lower() for line in lines)
