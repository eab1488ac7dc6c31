"""The puzzles, from easy to hard. Each teaches one new thing."""

from __future__ import annotations

from exercises.puzzles.attempt import Puzzle
from exercises.puzzles.rules import (
    AS_SHORT_AS_THE_CHAIN,
    AT_ANY_PACE,
    BY_EDGES,
    EVERY_JOB,
    FAILS_ONLY_WITH,
    FEWEST_SLOTS,
    NO_SLOT_TO_SPARE,
    SAME_LINES,
    SHORTER,
    at_any_slots,
    edges,
    within,
)

PUZZLES = (
    Puzzle(
        title="Start two at once",
        plan="""
            1 water  60 s
            2 coffee 30 s after 1
            3 pour   10 s after 1, 2
        """,
        needs={"pour": "water coffee"},
        slots=2,
        rules=(EVERY_JOB, within(70), BY_EDGES),
        learned="Steps without an edge between them can run at the same time. Add an edge only if one step needs "
        "the other.",
    ),
    Puzzle(
        title="Which job first",
        plan="""
            1 rice  10 s
            2 beans 10 s
            3 stew  20 s
        """,
        slots=2,
        rules=(EVERY_JOB, edges(), within(20)),
        learned="A free slot takes the first ready line. Put long jobs first, so that short jobs fill the gaps.",
    ),
    Puzzle(
        title="One oven",
        plan="""
            1 chop  10 s
            2 dough 25 s
            3 roast 40 s after 1
            4 bread 30 s after 2
            5 serve  5 s after 3, 4
        """,
        needs={"roast": "chop", "bread": "dough", "serve": "roast bread"},
        baked="roast bread",
        rules=(EVERY_JOB, edges(new=1), at_any_slots(4), within(100)),
        learned="If two jobs need the same oven, add an edge: one job must end before the other starts.",
    ),
    Puzzle(
        title="Two ovens, in any order",
        plan="""
            1 bread 30 s
            2 cake  20 s
            3 pie   30 s
            4 rolls 20 s
            5 salad 50 s
        """,
        baked="bread cake pie rolls",
        ovens=2,
        slots=5,
        asks="limits",
        rules=(EVERY_JOB, edges(), within(60)),
        learned="A limit bounds the number of parallel jobs and leaves their order open. It delays only jobs that "
        "need an oven, not the salad.",
    ),
    Puzzle(
        title="One more cook",
        plan="""
            1 leeks   10 s
            2 soup    30 s after 1
            3 carrots 20 s
            4 roast   30 s after 3
            5 dough   30 s
            6 glasses 10 s
            7 table   10 s
        """,
        needs={"soup": "leeks", "roast": "carrots"},
        slots=1,
        asks="slots",
        rules=(EVERY_JOB, SAME_LINES, NO_SLOT_TO_SPARE),
        learned="More cooks help until the run is as short as its longest chain. After that, only a different "
        "plan helps.",
    ),
    Puzzle(
        title="Two cycles, one edge",
        plan="""
            1 fry   20 s after 3, 4
            2 table 10 s after 1
            3 peel  10 s after 2
            4 chop  10 s after 3
        """,
        needs={"fry": "peel chop", "chop": "peel"},
        graph=True,
        rules=(EVERY_JOB, edges(gone=1)),
        learned="Break a cycle at an unnecessary edge. An edge that both cycles share breaks both.",
    ),
    Puzzle(
        title="Right by luck",
        plan="""
            1 flour  10 s
            2 butter 20 s
            3 dough  10 s after 1, 2
            4 tin    25 s
            5 bake   30 s after 3, 4
        """,
        needs={"dough": "flour butter", "bake": "dough tin"},
        slots=1,
        asks="slots",
        rules=(FAILS_ONLY_WITH, edges(gone=1)),
        learned="With a single slot, the order of the lines hides a missing edge. Test a plan with more slots than you "
        "will use.",
    ),
    Puzzle(
        title="As short as possible, with as few slots as possible",
        plan="""
            1 dishes 10 s
            2 salad  20 s
            3 sauce  20 s
            4 dough  10 s
            5 bread  30 s after 4
            6 slice  10 s after 5
        """,
        needs={"bread": "dough", "slice": "bread"},
        slots=4,
        asks="slots",
        rules=(EVERY_JOB, edges(), AS_SHORT_AS_THE_CHAIN, FEWEST_SLOTS),
        learned="Total work divided by the longest chain gives the number of slots you need, if the order is right.",
    ),
    Puzzle(
        title="Keep finished work",
        before="""
            1 build    60 s
            2 test     40 s after 1
            3 upload   20 s after 2
            4 notes    30 s
            5 announce  5 s after 3, 4
        """,
        breaks="upload",
        kept="1 2 4",
        plan="""
            1b build    60 s
            2b test     40 s after 1b
            3b mirror   20 s after 2b
            4b notes    30 s
            5b announce  5 s after 3b, 4b
        """,
        needs={"test": "build", "upload": "test", "mirror": "test", "announce": "mirror notes"},
        slots=2,
        rules=(EVERY_JOB, within(145), BY_EDGES),
        learned="A repair replaces the failed step and the steps that depend on it. Done steps stay done, and new "
        "steps depend on their ids.",
    ),
    Puzzle(
        title="Two plans, one kitchen",
        plan="""
            1 water 60 s
            2 tea   30 s after 1
            3 water 60 s after 2
            4 eggs  50 s after 3
            5 bread 20 s after 4
            6 plate 10 s after 4, 5
        """,
        needs={"tea": "water", "eggs": "water", "plate": "eggs bread"},
        slots=2,
        rules=(EVERY_JOB, within(120), BY_EDGES),
        learned="Merge two plans at a shared step: do it once, and let both plans depend on it.",
    ),
    Puzzle(
        title="Undo it",
        plan="""
            1 database 60 s
            2 cache    30 s after 1
            3 service  20 s after 2
            4 website  10 s after 3
        """,
        needs={"service": "website", "cache": "service", "database": "service"},
        slots=2,
        rules=(EVERY_JOB, within(90), BY_EDGES),
        learned="An undo reverses every edge. Steps that could be built in parallel can be undone in parallel.",
    ),
    Puzzle(
        title="The only edge that matters",
        plan="""
            1 survey 10 s
            2 walls  30 s after 1
            3 pipes  30 s after 1
            4 dry    20 s after 2, 3
            5 paint  20 s after 4, 1
            6 floor  30 s after 5, 3
            7 lamps  30 s after 5, 2
            8 clean  10 s after 6, 7
        """,
        slots=8,
        graph=True,
        rules=(EVERY_JOB, SHORTER, edges(gone=1)),
        learned="Only an edge on every longest chain can shorten the plan. All other edges have slack.",
    ),
    Puzzle(
        title="A todo list for three subagents",
        plan="""
            1 read   20 s
            2 clock  30 s
            3 docs   30 s
            4 test   20 s
            5 report 10 s
        """,
        needs={"clock": "read", "test": "clock", "report": "docs test"},
        slots=3,
        rules=(EVERY_JOB, AT_ANY_PACE, within(80)),
        learned="A todo list states an order only for one agent. If agents share it, write each need as an edge; no run "
        "proves that an edge is unnecessary.",
    ),
)  # fmt: skip
