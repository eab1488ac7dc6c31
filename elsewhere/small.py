"""Run the small LangGraph program of lesson 15, as written and with one thing changed, and say what was seen.

    python -m elsewhere.small

`observed` needs elsewhere/.envs/langgraph; `python -m elsewhere.record --small` writes its answers into the recording.
"""

import json
import re
from typing import Any

from elsewhere import suite
from elsewhere.suite import YES, Observed, Program

FILE = suite.HERE / "langgraph/small.py"
CHANGES = {  # name -> old and new text of the program
    "as written": (),
    "no reducer": (("done: Annotated[dict, operator.or_]", "done: dict"),),
    "planner before the interrupt": (
        ('interrupt(state["plan"])', "interrupt(planner())"),
        ('return {"plan": planner()}', 'return {"plan": json.loads(PLAN)["steps"]}'),
    ),
    "a cycle": (  # step 1 needs the last step
        (
            'return json.loads(PLAN)["steps"]',
            'steps = json.loads(PLAN)["steps"]\n    steps[0]["depends_on"] = [8]\n    return steps',
        ),
    ),
    "the tests fail": (
        (
            'return {"done": {step["id"]: result}}',
            'if step["id"] == 1:\n        raise RuntimeError("1 test failed")\n    return {"done": {step["id"]: result}}',
        ),
    ),
}
KILLS = ("backup_database:after", "notify_team:after")  # where the process is killed


def changed(name: str) -> str:
    """Return the text of the program with a change. Raises ValueError if a text to replace is no longer in it."""
    text = FILE.read_text(encoding="utf-8")
    for old, new in CHANGES[name]:
        if text.count(old) != 1:
            raise ValueError(f"{FILE.name}: the change {name!r} needs one {old!r}; adapt CHANGES")
        text = text.replace(old, new)
    return text


def run(name: str, kill: str = "") -> Observed:
    """Run the program with a change. With `kill`, kill it there once and start it again."""
    observed = Observed(Program("langgraph", "small.py"))
    (observed.folder / "code/small.py").write_text(changed(name), encoding="utf-8")
    if kill:
        observed.run(YES, kill=True, HOLD=kill)
    return observed.run(YES)


def seen(observed: Observed) -> dict[str, Any]:
    """Return what a run showed."""
    errors = "\n".join(path.read_text() for path in sorted(observed.state.glob("stderr*.txt")))
    raised = [line for line in errors.splitlines() if re.match(r"[\w.]*Error: ", line)]
    return {
        "called": observed.started,
        "ended": [event["tool"] for event in observed.events("end")],
        "planner": sum(line == "the planner is asked" for _, line in observed.lines),
        "messages": observed.world.messages,
        "error": raised[-1] if raised else "",
    }


def observed() -> dict[str, Any]:
    """Return the program's text, and what was seen in each run."""
    runs = {name: run(name) for name in CHANGES}
    answers: dict[str, Any] = {name: seen(one) for name, one in runs.items()}
    answers |= {f"killed at {place}": seen(run("as written", place)) for place in KILLS}
    return {"code": FILE.read_text(encoding="utf-8"), "bars": runs["as written"].bars(), "seen": answers}


if __name__ == "__main__":
    print(json.dumps(observed(), indent=1))
