"""Carry out a plan whose steps can contain plans, and continue after a crash from a journal that survives it."""


class Crash(Exception):
    """The machine goes down."""


def carry_out(plan, do, journal):
    """Carry out a plan in order; skip the steps that `journal` records as done.

    `plan` maps ids to steps. A step is a string, which `do` carries out, or an inner plan, at any depth. Ids consist of
    letters and digits. An id is unique in its plan, but an inner plan can use the same ids. Each finished step is
    appended to `journal`, a list of strings or tuples; entries are never changed.
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
