"""Two lamps, one bill

Lesson 14 · difficulty 2 of 5 · 10 minutes

A customer orders the same lamp twice. Both steps are done, and both have a receipt. Only one lamp is paid for.

    receipts: receipt 1, receipt 2
    billed: 20 euros, 20 euros
"""

# %% program
"""Carry out a plan on a cluster whose tasks have keys: what is submitted again under a
known key is not carried out again.
"""


class Cluster:
    """Keeps the result of each key, also when the program that submitted the task has
    crashed.
    """

    def __init__(self):
        self.results = {}

    def submit(self, key, tool, value):
        """Call a tool unless the key is known, and return the key's result. A key can be
        any value that a dict can have.
        """
        if key not in self.results:
            self.results[key] = tool(value)
        return self.results[key]


def carry_out(run, plan, tools, cluster):
    """Carry out a plan, {step: (tool, value)}, on the cluster; return the results by step.

    `run` is the run's name. Runs and steps have names of any letters and digits. Each step
    of each run calls its tool once, even if another step makes the same call. After a
    crash, the same run is carried out once more from its first step: what the cluster has
    done is not done again.
    """
    return {step: cluster.submit((name, value), tools[name], value) for step, (name, value) in plan.items()}


if __name__ == "__main__":
    billed = []

    def bill(amount):
        billed.append(amount)
        return f"receipt {len(billed)}"

    plan = {"desk lamp": ("bill", "20 euros"), "another desk lamp": ("bill", "20 euros")}
    receipts = carry_out("order 7", plan, {"bill": bill}, Cluster())
    print("receipts:", ", ".join(receipts.values()))
    print("billed:", ", ".join(billed))

# %% test
from contextlib import suppress

SAME = {"1": ("pay", 30), "2": ("pay", 30), "3": ("mail", 30)}


class World:
    """A cluster, and tools that count their calls; before call number `crash`, the program crashes."""

    def __init__(self, program, crash=0):
        self.program, self.cluster, self.calls, self.crash = (
            program,
            program.Cluster(),
            [],
            crash,
        )

    def tool(self, name):
        def call(value):
            if len(self.calls) + 1 == self.crash:
                self.crash = 0
                raise ConnectionError("crash")
            self.calls.append(name)
            return f"{name} {len(self.calls)}"

        return call

    def carry_out(self, run, plan):
        tools = {name: self.tool(name) for name in ("pay", "mail")}
        return self.program.carry_out(run, plan, tools, self.cluster)


def test_two_steps_with_the_same_call_are_two_calls(program):
    world = World(program)
    results = world.carry_out("a", SAME)
    assert world.calls == ["pay", "pay", "mail"], f"two steps pay 30 euros, a third sends a mail; called: {world.calls}"
    wanted = {"1": "pay 1", "2": "pay 2", "3": "mail 3"}
    assert results == wanted, f"two steps pay 30 euros, a third sends a mail; the results are {results}"


def test_after_a_crash_finished_steps_are_not_done_again(program):
    for crash in (1, 2, 3):
        world = World(program, crash)
        with suppress(ConnectionError):
            world.carry_out("a", SAME)
        results = world.carry_out("a", SAME)
        assert world.calls == ["pay", "pay", "mail"], (
            f"crash before call {crash}, then once more; called: {world.calls}"
        )
        assert results == {"1": "pay 1", "2": "pay 2", "3": "mail 3"}, f"crash before call {crash}; results: {results}"


def test_two_runs_are_independent(program):
    for one, other, step, another in (("a", "b", "1", "1"), ("1", "11", "11", "1")):
        world = World(program)
        world.carry_out(one, {step: ("pay", 30)})
        world.carry_out(other, {another: ("pay", 30)})
        assert world.calls == ["pay", "pay"], (
            f"run {one!r} with a step {step!r}, then run {other!r} with a step {another!r}; called: {world.calls}"
        )


# %% hints
HINT = """Write down the key of each submission. When do two submissions mean the same work, and when do they only look alike?"""
QUESTION = """Two things need the same key, and two things need different keys. What stays the same after a crash,
and differs between two equal orders?"""
SEEN = """Dask: `Client.submit` has `pure=True` by default and makes the key from the function and its arguments, so two equal
calls are one. Its documentation says to pass `pure=False` for calls with effects; then a repeated submission is new work."""
