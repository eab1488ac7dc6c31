"""Five steps for the question whose result a step has after a crash. B takes longest, so A2 starts before B2."""

import os
import time

DEPENDS_ON = {"A": [], "B": [], "B2": ["B"], "A2": ["A"], "C": ["A2", "B2"]}
SECONDS = {"A": 0.1, "B": 0.6, "B2": 0.1, "A2": 0.1, "C": 0.1}


def work(name, first):
    """Run a step; the first process dies in step C."""
    print("RUN", name, flush=True)
    time.sleep(SECONDS[name])
    if name == "C" and first:
        os.kill(os.getpid(), 9)
    return f"result of {name}"


def ready(waiting, done):
    """Return the steps that can start now, in the order of the plan."""
    return [name for name in waiting if done.keys() >= set(DEPENDS_ON[name])]
