"""The small changes with which solutions are tried: enough of them, in the right place, and named so that one can copy."""

import pytest

from tests.exercises.mutants import mutants

FRAME = "def f(a, b):\n    given = a < b\n    # BEGIN SOLUTION\n{}\n    # END SOLUTION\n"
CHANGES = {
    "    return a < b": ["return a <= b", "return a >= b", "return None"],
    "    return a + 1": ["return a - 1", "return a + 2", "return a + 0", "return None"],
    "    return a and not b": ["return a or not b", "return a", "return not b", "return a and b"],
    "    return 'red' if a else b": ["return 'red'", "return b", "return 'red_x' if a else b"],
    "    return [n for n in a if n]": ["return [n for n in a]"],
    "    return {'id': a, 'tool': b}": ["return {'id': a}", "return {'id': a, 'tool_x': b}"],
    "    return sorted(a, key=b)": ["return sorted(a)"],
    "    return max(a, b)": ["return max(b, a)", "return max(a)"],
    "    for n in a:\n        print(n)": ["for n in list(a)[:-1]:", "pass"],
    "    while a:\n        break": ["while False:", "continue"],
    "    if a:\n        raise ValueError(b)": ["if True:", "if False:", "pass"],
    "    c = [a, b]\n    return c": ["pass", "c = [a]", "c = [b]", "return None"],
}


@pytest.mark.parametrize(("body", "wanted"), CHANGES.items(), ids=[body.strip()[:30] for body in CHANGES])
def test_a_change_is_made_and_named(body: str, wanted: list[str]) -> None:
    changed = mutants(FRAME.format(body))
    labels = [one.label for one in changed]
    for change in wanted:
        assert any(line.endswith(f"-> {change}") or line == f"{change} -> " for line in labels), (change, labels)
    assert len({one.source for one in changed}) == len(changed)


def test_only_the_solution_is_changed() -> None:
    assert all("given = a < b" in one.source for one in mutants(FRAME.format("    return a == 1 or b == 2")))


def test_prose_is_left_alone() -> None:
    body = '    """Say it."""\n    return {"description": "one", "said": "it came again"}, f"gave up: {a}"'
    sources = " ".join(one.source for one in mutants(FRAME.format(body)))
    assert "one_x" not in sources
    assert "again_x" not in sources
    assert "gave up: _x" not in sources
