"""Pictures of mechanisms for the lessons: each is a short story, drawn as a graph before its code is shown."""

from __future__ import annotations

import re
from inspect import cleandoc

from planexec_lab import views
from planexec_lite.plan import Plan

# The title, then a line for each box: its name, what happens, and after which boxes. It is the picture's own text form.
SKETCHES = {
    "toy": """
        P, the planner, names each step; E, the executor, does it
        P1  multiply 12 by 4
        E1  that is 48        after P1
        P2  add 5 to that     after E1
        E2  that is 53        after P2
        P3  we are done       after E2
    """,
    "react": """
        ReAct: the model, M, thinks and calls a tool, T, until it has an answer
        goal  move the emails
        M1    I will look at the schema  after goal
        T1    two tables                 after M1
        M2    I will test the script     after T1
        T2    error: it loses an email   after M2
        M3    I will write it again      after T2
    """,
    "context": """
        The executor of step 4 reads its task and three results, and not the goal
        goal      for the planner
        plan      four steps, as text   after goal
        task      the text of step 4    after plan
        results   of steps 1, 2 and 3
        step-4    the executor works    after task, results
        board     the result of step 4  after step-4
    """,
    "repair": """
        A repair sends the question, the answer and its problems
        ask     goal, tools and rules
        prose   the first answer       after ask
        check   it is not JSON         after prose
        repair  sends all three        after check
        plan    the second answer      after repair
        valid   the plan can run       after plan
    """,
    "leak": """
        The notes reached step 3, and no arrow leads from 2 to 3
        1  read the newsletter
        2  read the confidential notes
        3  write a report         after 1
    """,
    "replan": """
        The verdict goes to the planner, which plans the rest
        5      changes the endpoints
        6      changes and runs tests: 3 fail  after 5
        judge  step 5 is wrong                 after 6
        plan   again, from all results         after 5, judge
        rest   5b fixes, then 6 and 7          after plan
    """,
    "grant": """
        A grant answers for you, but only for a plan inside its bounds
        you      approve, and grant 1 new step
        failure  a step fails                   after you
        plan     a new one is written           after failure
        bounds   is it inside?                  after plan
        inside   the plan starts at once        after bounds
        outside  the run pauses and asks you    after bounds
    """,
    "approval": """
        The yes belongs to one hash, so a changed plan waits
        plan    three steps
        hash    e787, its fingerprint   after plan
        person  says yes to e787        after hash
        run     e787: it starts         after person
        edit    one step is new         after plan
        pause   996a: it waits          after edit, person
    """,
    "barrier": """
        A barrier: c needs only a, and it waits for b too
        a        1 minute
        b        3 minutes
        barrier  opens when a and b have ended  after a, b
        c        needs only a                   after barrier
        d        needs only b                   after barrier
    """,
    "saga": """
        A saga: step 7 fails, and the undos run in reverse order
        2   build the image
        4   deploy to staging        after 2
        6   deploy to production     after 4
        7   the check fails          after 6
        u6  undo 6: the old version  after 7
        u4  undo 4: the old version  after u6
        u2  undo 2: no image         after u4
    """,
    "fold": """
        A fold: each event turns one board into the next
        B0  both steps wait
        e1  step 1 started
        B1  1 runs, 2 waits  after B0, e1
        e2  step 1 done
        B2  1 done, 2 waits  after B1, e2
        e3  step 2 started
        B3  1 done, 2 runs   after B2, e3
    """,
    "lease": """
        The lease expires, and the store refuses the worker that comes back
        A-1    loads 12 events, gets the lease
        A-2    hangs; its lease expires         after A-1
        B-1    gets the lease, loads 12 events  after A-2
        B-2    writes events 13 and 14          after B-1
        A-3    wakes up, still has 12 events    after B-2
        store  has 14, so it refuses A          after A-3
    """,
    "key": """
        The same key on each way to the bank, so the bank books once
        call    run, tool, arguments, occurrence
        first   step rent: no answer              after call
        retry   after a crash                     after call
        replan  now called pay_rent               after call
        bank    one key, one booking              after first, retry, replan
    """,
    "nested": """
        A step of the outer plan is the goal of another planner
        outer   plans search, then read
        search  a step without a tool       after outer
        inner   plans 3 calls for search    after search
        1       search solar                after inner
        2       search wind                 after inner
        3       search storage              after inner
        read    gets one result, and so on  after 1, 2, 3
    """,
    "rounds": """
        The graph unrolled: a round ends when its last copy of work ends
        plan    writes 8 steps
        yes     of a person        after plan
        send-1  1 and 3 are ready  after yes
        work-1  tests              after send-1
        work-3  backup             after send-1
        send-2  now 2 is ready     after work-1, work-3
        work-2  builds             after send-2
    """,
    "families": """
        Three families: D is a decision of a model, small letters are steps
        D1   step by step: a comes first
        a    runs                           after D1
        D2   reads it: b is next            after a
        b    runs                           after D2
        D3   reads it: the goal is reached  after b
        D    a whole plan: a and b, then c
        a-b  run at the same time           after D
        c    runs                           after a-b
        D-a  a growing plan: begins with a
        D-b  writes on: b                   after D-a
        a-2  runs meanwhile                 after D-a
        b-2  runs                           after D-b, a-2
    """,
    "cluster": """
        A lost step is given to another worker, and done twice
        driver   submits step gas
        cluster  gives it to A          after driver
        A        books gas, and dies    after cluster
        again    the cluster chooses B  after A
        B        books gas              after again
    """,
    "permit": """
        Only one worker can make the permit
        step-2    must run at most once
        worker-1  makes a permit          after step-2
        dead      dies; the permit stays  after worker-1
        worker-2  finds it and stops      after step-2, dead
        in-doubt  a person looks          after worker-2
    """,
    "bus": """
        A bus has listeners, and a ticket has one owner
        message  book gas
        clerk    books, because it listens    after message
        deputy   books, because it listens    after message
        ticket   book gas
        owner    books, because it claimed it  after ticket
    """,
    "claims": """
        A lease ends by itself, and the next claim gets a higher fence
        0.0  the clerk claims: fence 1
        0.1  the clerk hangs             after 0.0
        2.0  no heartbeat: the lease ends  after 0.1
        2.5  the deputy claims: fence 2   after 2.0
        3.0  the clerk wakes up: fence 1  after 0.1, 2.5
    """,
    "attach": """
        The queue outlives its driver, and keeps the result
        driver-1  sends gas, key 7f3
        dead      before the answer comes  after driver-1
        worker    books gas                after driver-1
        queue     stores the result: 7f3   after worker
        driver-2  finds key 7f3            after dead, queue
    """,
    "interrupt": """
        The node is called twice, each time from its first line
        call-1  line 1, then interrupt
        saved   the process can end           after call-1
        person  says yes                      after saved
        call-2  again from line 1             after person
        answer  goto dispatch                 after call-2
    """,
    "killed": """
        The process dies between an effect and its record
        tests   have ended
        saved   the result of the tests  after tests
        backup  is running
        effect  the file is written      after backup
        killed  nothing more is saved    after saved, effect
    """,
    "calls": """
        The calls of two processes: only the first two have the same place
        call-1   A starts
        call-2   B starts                 after call-1
        call-3   A2, because A has ended  after call-2
        call-4   B2, because B has ended  after call-3
        again-1  A is stored
        again-2  B is stored              after again-1
        again-3  B2 is next in the plan   after again-2
        again-4  A2                       after again-3
    """,
    "conversation": """
        Only a hand-off changes the agent that you talk to
        you-1     ask A
        tool      A gives B one task            after you-1
        A         answers you with B's result   after tool
        you-2     ask S
        team      S gives steps to B and C      after you-2
        S         answers you with the results  after team
        you-3     ask A
        hand-off  A leaves you to B             after you-3
        B         answers you, now and later    after hand-off
    """,
}


def sketch(name: str) -> views.Figure:
    """Draw a mechanism: its boxes from left to right, in the order in which things happen.

    Raises `ValueError` for a name that is not in `SKETCHES`.
    """
    if name not in SKETCHES:
        raise ValueError(f"there is no sketch {name!r}; there are: {', '.join(SKETCHES)}")
    title, *story = cleandoc(SKETCHES[name]).splitlines()
    steps = []
    for line in story:
        box, what, *after = re.split("  +", line)
        before = after[0].removeprefix("after ").split(", ") if after else []
        steps.append({"id": box, "description": what, "depends_on": before})
    return views.graph(Plan.parse(steps), title=title)


def chain(*descriptions: str) -> views.Figure:
    """Draw steps that come one after the other."""
    steps = []
    for number, text in enumerate(descriptions, 1):
        steps.append({"id": number, "description": text, "depends_on": list(range(1, number))[-1:]})
    return views.graph(Plan.parse(steps))
