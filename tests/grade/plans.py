"""Plans in short for the tests, and random ones."""

from typing import Any

from hypothesis import strategies as st

from planexec_lite import Plan, Step


def plan(text: str, **more: Any) -> Plan:
    """A plan such as ``plan("1 a; 2 b < 1; 3 c < 1 2")``: an id and a tool, and behind < the ids that it waits for."""
    steps = []
    for line in text.split(";"):
        what, _, after = line.partition("<")
        id, tool = what.split()
        steps.append(Step(id=id, tool=tool, depends_on=tuple(after.split())))
    return Plan(steps=tuple(steps), **more)


@st.composite
def plans(draw: st.DrawFn, most: int = 7, repeats: bool = True) -> Plan:
    """A valid plan over the tools a to h, its ids and the order of its list left to chance; without repeats each tool once."""
    tools = draw(st.lists(st.sampled_from("abcdefgh"), min_size=1, max_size=most, unique=not repeats))
    ids = draw(st.permutations([str(n) for n in range(1, len(tools) + 1)]))
    steps = []
    for place, tool in enumerate(tools):
        after = draw(st.lists(st.sampled_from(ids[:place]), unique=True, max_size=3)) if place else []
        params = {"x": draw(st.integers(0, 2))} if draw(st.booleans()) else {}
        criteria = draw(st.sampled_from([None, "it is there"]))
        steps.append(Step(id=ids[place], tool=tool, depends_on=tuple(after), params=params, success_criteria=criteria))
    return Plan(steps=tuple(draw(st.permutations(steps))))
