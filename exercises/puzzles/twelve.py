"""The twelve puzzles, from easy to hard. Each teaches one thing that those before it do not."""

from __future__ import annotations

from exercises.puzzles.attempt import Puzzle
from exercises.puzzles.rules import (
    AS_SHORT_AS_THE_CHAIN,
    EVERY_JOB,
    FAILS_ONLY_WITH,
    FEWEST_SLOTS,
    NO_SLOT_TO_SPARE,
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
        rules=(EVERY_JOB, within(70)),
        learned="Steps without an edge between them may run at once. An edge is there because one needs the other.",
    ),
    Puzzle(
        title="Which one first",
        plan="""
            1 rice  10 s
            2 beans 10 s
            3 stew  20 s
        """,
        slots=2,
        rules=(EVERY_JOB, edges(), within(20)),
        learned="Whoever is free takes the first ready line. Long work comes first, so that short work fills the gaps.",
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
        learned="A thing that only one can use is an edge too: what must be over before the next may begin.",
    ),
    Puzzle(
        title="Two ovens, and who goes first does not matter",
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
        learned="A limit says how many at once, and leaves the order open. It holds back the ovens and not the salad.",
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
        rules=(EVERY_JOB, edges(), NO_SLOT_TO_SPARE),
        learned="Cooks help until the run is as short as its longest chain. From there on only another plan helps.",
    ),
    Puzzle(
        title="Two circles, one edge",
        plan="""
            1 fry   20 s after 3, 4
            2 table 10 s after 1
            3 peel  10 s after 2
            4 chop  10 s after 3
        """,
        needs={"fry": "peel chop", "chop": "peel"},
        graph=True,
        rules=(EVERY_JOB, edges(gone=1)),
        learned="A circle is broken at an edge that nobody needs; one that both circles share breaks both.",
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
        learned="With one slot the order of the lines hides a missing edge. Try a plan with more slots than you will have.",
    ),
    Puzzle(
        title="As short as can be, with as few as can be",
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
        learned="Work divided by the longest chain says how many are enough; it takes the right order to reach it.",
    ),
    Puzzle(
        title="Keep what is done",
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
        rules=(EVERY_JOB, within(145)),
        learned="A repair names what failed and what waited for it. What is done stays done, and is waited for by its id.",
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
        rules=(EVERY_JOB, within(120)),
        learned="Two plans become one where they share a step: it is done once, and both wait for it.",
    ),
    Puzzle(
        title="Take it back",
        plan="""
            1 database 60 s
            2 cache    30 s after 1
            3 service  20 s after 2
            4 website  10 s after 3
        """,
        needs={"service": "website", "cache": "service", "database": "service"},
        slots=2,
        rules=(EVERY_JOB, within(90)),
        learned="Taking back turns every edge round. What could be built at once can be taken back at once.",
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
        learned="Only an edge that every longest chain runs through makes a plan shorter. All others have slack beside it.",
    ),
)  # fmt: skip
