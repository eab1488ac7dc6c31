"""The old version is back

Lesson 14 · difficulty 4 of 5 · 20 minutes

A worker that was silent for an hour lost its lease. Version 2 was live. Now version 1 is live again.

    worker 2: deployed
    worker 1: lease lost
    live: version 2
"""

# %% program
"""Workers deploy to one site. Only the worker with the lease is allowed to, and a silent worker
loses it to another.
"""


class Site:
    """A site, and the lease on it. Each method is atomic: no other worker does anything
    while it runs.
    """

    def __init__(self):
        self.live, self.token = [], 0

    def take_lease(self):
        """Give the lease to the caller, and return its token; each lease has a higher token
        than the one before.
        """
        self.token += 1
        return self.token

    def has_lease(self, token):
        """Return whether the lease with this token is the latest."""
        return token == self.token

    def deploy(self, version, token):
        """Append a version to `live`; the last one is what visitors see."""
        self.live.append(version)


def release(site, version, build):
    """Take the lease, build a version and deploy it. Return "deployed" if this worker has
    deployed it, and otherwise "lease lost".

    A worker can stall for an hour at any point outside of the methods of `site`, and others
    work meanwhile. A worker whose lease was taken never deploys. Any version can follow any
    other: a later worker might deploy an older version.
    """
    token = site.take_lease()
    if not site.has_lease(token):
        return "lease lost"
    build(version)
    site.deploy(version, token)
    return "deployed"


if __name__ == "__main__":
    site = Site()

    def stalls(version):
        print("worker 2:", release(site, "version 2", lambda version: None))

    print("worker 1:", release(site, "version 1", stalls))
    print("live:", site.live[-1])


# %% test
def stalled(program, moment, first="version 1", second="version 2"):
    """Let worker 1 stall after it has used the site, or built, `moment` times; worker 2 does all its work then.

    Return what both workers returned (worker 2 None if worker 1 did not come so far), and the versions that were live.
    """
    uses, inside, said = 0, 0, []

    def used():
        nonlocal uses
        if not inside:
            uses += 1
            if uses == moment:
                said.append(program.release(site, second, lambda version: None))

    class Watched(program.Site):
        def __getattribute__(self, name):
            value = object.__getattribute__(self, name)
            if name.startswith("__"):
                return value
            if not callable(value):
                used()
                return value

            def call(*args, **named):
                nonlocal inside
                inside += 1
                try:
                    return value(*args, **named)
                finally:
                    inside -= 1
                    used()

            return call

    site = Watched()
    one = program.release(site, first, lambda version: used())
    return one, (said or [None])[0], list(vars(site)["live"])


def moments(program, *versions):
    """All stalls of worker 1, one after the other, until it ends before the stall."""
    moment = 1
    while (came := stalled(program, moment, *versions))[1]:
        yield came
        moment += 1


def test_a_worker_that_lost_its_lease_does_not_deploy(program):
    for one, _, live in moments(program):
        assert live in (["version 2"], ["version 1", "version 2"]), (
            f"worker 1 stalled, and worker 2 took the lease and deployed version 2; live were {live}"
        )
        wanted = "deployed" if "version 1" in live else "lease lost"
        assert one == wanted, f"live were {live}, and worker 1 returned {one!r}"


def test_the_worker_that_has_the_lease_deploys(program):
    for _, two, _ in moments(program):
        assert two == "deployed", f"worker 2 took the lease while worker 1 stalled; worker 2 returned {two!r}"
    one, _, live = stalled(program, 99)
    assert (one, live) == ("deployed", ["version 1"]), (
        f"there was no other worker; it returned {one!r}, live were {live}"
    )


def test_a_later_worker_can_deploy_an_older_version(program):
    for _, _, live in moments(program, "version 2", "version 1"):
        assert live[-1:] == ["version 1"], f"worker 2 went back to version 1 while worker 1 stalled; live were {live}"


# %% hints
HINT = """Put an hour between each two lines of `release`, one after the other. After which of them does a worker know less than
it believes?"""
QUESTION = """A worker can't know how long it slept. Who notices that its lease is old, at the moment when it counts?"""
SEEN = """HBase had this defect: a client paused for a garbage collection, its lease expired, and it wrote anyway. Martin
Kleppmann describes it in "How to do distributed locking"; the cure is a fencing token that the storage checks."""
