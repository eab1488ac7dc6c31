"""Pictures of mechanisms for the lessons: each is a short story, drawn as a graph before its code is shown."""

from __future__ import annotations

from planexec_lab import views
from planexec_lite.plan import Plan

Happening = tuple[str, str, str]  # name, what happens, and the names of what comes right before it

SKETCHES: dict[str, tuple[str, list[Happening]]] = {
    "executor": (
        "M, the model, calls the tools, T, and reads their answers until it writes text",
        [
            ("task", "find a trend in storage", ""),
            ("M1", "calls search with q", "task"),
            ("T1", "error: it is query, not q", "M1"),
            ("M2", "calls search with query", "T1"),
            ("T2", "finds three documents", "M2"),
            ("M3", "writes the result of the step", "T2"),
        ],
    ),
    "context": (
        "The executor of step 4 reads its task and three results, and not the goal",
        [
            ("goal", "for the planner only", ""),
            ("plan", "four steps, as text", "goal"),
            ("task", "the text of step 4", "plan"),
            ("results", "of steps 1, 2 and 3", ""),
            ("executor", "works on step 4", "task results"),
            ("board", "the result of step 4", "executor"),
        ],
    ),
    "replan": (
        "The verdict goes to the planner, which plans the rest",
        [
            ("5", "changes the endpoints", ""),
            ("6", "runs the tests: 3 fail", "5"),
            ("judge", "step 5 is wrong", "6"),
            ("plan", "again, from all results", "5 judge"),
            ("rest", "5b fixes, then 6 and 7", "plan"),
        ],
    ),
    "grant": (
        "A grant answers for you, but only for a plan inside its bounds",
        [
            ("you", "approve, and grant 1 new step", ""),
            ("failure", "a step fails", "you"),
            ("plan", "a new one is written", "failure"),
            ("bounds", "is it inside?", "plan"),
            ("inside", "the plan starts at once", "bounds"),
            ("outside", "the run pauses and asks you", "bounds"),
        ],
    ),
    "barrier": (
        "A barrier: c needs only a, and it waits for b too",
        [
            ("a", "1 minute", ""),
            ("b", "3 minutes", ""),
            ("barrier", "opens when a and b have ended", "a b"),
            ("c", "needs only a", "barrier"),
            ("d", "needs only b", "barrier"),
        ],
    ),
    "saga": (
        "A saga: step 7 fails, and the undos run in reverse order",
        [
            ("2", "build the image", ""),
            ("4", "deploy to staging", "2"),
            ("6", "deploy to production", "4"),
            ("7", "the check fails", "6"),
            ("u6", "undo 6: the old version", "7"),
            ("u4", "undo 4: the old version", "u6"),
            ("u2", "undo 2: no image", "u4"),
        ],
    ),
    "fold": (
        "A fold: each event turns one board into the next",
        [
            ("board-0", "both steps wait", ""),
            ("event-1", "step 1 started", ""),
            ("board-1", "1 runs, 2 waits", "board-0 event-1"),
            ("event-2", "step 1 done", ""),
            ("board-2", "1 done, 2 waits", "board-1 event-2"),
            ("event-3", "step 2 started", ""),
            ("board-3", "1 done, 2 runs", "board-2 event-3"),
        ],
    ),
    "lease": (
        "The lease expires, and the store refuses the worker that comes back",
        [
            ("A-1", "loads 12 events, gets the lease", ""),
            ("A-2", "hangs; its lease expires", "A-1"),
            ("B-1", "gets the lease, loads 12 events", "A-2"),
            ("B-2", "writes events 13 and 14", "B-1"),
            ("A-3", "wakes up with 12 events", "A-2"),
            ("store", "has 14, so it refuses A", "B-2 A-3"),
        ],
    ),
    "key": (
        "The same key on each way to the bank, so the bank books once",
        [
            ("call", "run, tool, arguments, occurrence", ""),
            ("first", "step rent: no answer", "call"),
            ("retry", "after a crash", "call"),
            ("replan", "now called pay_rent", "call"),
            ("nested", "made by a helper", "call"),
            ("bank", "one key, one booking", "first retry replan nested"),
        ],
    ),
    "nested": (
        "A step of the outer plan is the goal of another planner",
        [
            ("outer", "plans search, then read", ""),
            ("search", "a step without a tool", "outer"),
            ("inner", "plans 3 calls for search", "search"),
            ("1", "search solar", "inner"),
            ("2", "search wind", "inner"),
            ("3", "search storage", "inner"),
            ("read", "gets one result, and so on", "1 2 3"),
        ],
    ),
    "rounds": (
        "The graph unrolled: a round ends when its last copy of work ends",
        [
            ("plan", "writes 8 steps", ""),
            ("yes", "of a person", "plan"),
            ("send-1", "1 and 3 are ready", "yes"),
            ("work-1", "tests", "send-1"),
            ("work-3", "backup", "send-1"),
            ("send-2", "now 2 is ready", "work-1 work-3"),
            ("work-2", "builds", "send-2"),
        ],
    ),
    "conversation": (
        "Only a hand-off changes the agent that you talk to",
        [
            ("you-1", "ask A", ""),
            ("tool", "A gives B one task", "you-1"),
            ("A", "answers you with B's result", "tool"),
            ("you-2", "ask S", ""),
            ("team", "S gives steps to B and C", "you-2"),
            ("S", "answers you with the results", "team"),
            ("you-3", "ask A", ""),
            ("hand-off", "A leaves you to B", "you-3"),
            ("B", "answers you, now and later", "hand-off"),
        ],
    ),
}


def sketch(name: str) -> views.Figure:
    """Draw a mechanism: its boxes from left to right, in the order in which things happen.

    Raises `ValueError` for a name that is not in `SKETCHES`.
    """
    if name not in SKETCHES:
        raise ValueError(f"there is no sketch {name!r}; there are: {', '.join(SKETCHES)}")
    title, story = SKETCHES[name]
    steps = [{"id": id, "description": what, "depends_on": before.split()} for id, what, before in story]
    return views.graph(Plan.parse(steps), title=title)


def chain(*descriptions: str) -> views.Figure:
    """Draw steps that come one after the other."""
    steps = [{"id": number, "description": text} for number, text in enumerate(descriptions, 1)]
    edges = [{"depends_on": [number] if number else []} for number in range(len(steps))]
    return views.graph(Plan.parse([step | edge for step, edge in zip(steps, edges, strict=True)]))
