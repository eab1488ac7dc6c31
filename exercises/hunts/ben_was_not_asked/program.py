"""Carry out a plan whose steps may be plans of their own, and go on after a crash from a journal that outlives it."""


class Crash(Exception):
    """The machine goes down."""


def carry_out(plan, do, journal):
    """Carry a plan out in its order; what stands in `journal` was done before and is not done again.

    `plan` maps ids to steps. A step is a text, which `do` carries out, or a plan inside this one, at any depth. Ids are
    made of letters and digits. In one plan no id is there twice; plans know nothing of each other's ids. What was done is
    appended to `journal`, a list of texts or tuples; nothing in it is ever changed.
    """
    for id, step in plan.items():
        if id in journal:
            continue
        if isinstance(step, dict):
            carry_out(step, do, journal)
        else:
            do(step)
        journal.append(id)


RELEASE = {"build": "build the release", "review": "ask Ben about the release", "publish": "publish the release"}
PLAN = {"notes": "write the notes", "review": "ask Ann about the notes", "release": RELEASE}

if __name__ == "__main__":
    carry_out(PLAN, print, [])
