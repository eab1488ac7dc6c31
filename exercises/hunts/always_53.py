"""The answer is always 53

Lesson 01 · difficulty 1 of 5 · 5 minutes

The tools do their work. The answer would be the same without them.

    calculator, 12 * 4 + 5 = 53
    calculator, 2 * 3 + 4 = 10
    24-hour clock, 12 * 4 + 5 = 5
"""

# %% program
"""A toy planner and executor for goals such as "12 * 4 + 5"."""


def planner(goal, history):
    """Decide the next step. The planner only decides: it takes numbers from the goal, and
    never computes one.
    """
    a, _, b, _, c = goal.split()
    if "multiply" not in history:
        return {"action": "multiply", "a": int(a), "b": int(b)}
    if "add" not in history:
        return {"action": "add", "a": 48, "b": int(c)}
    return {"action": "done", "answer": 53}


def solve(goal, tools):
    """Ask the planner for one step at a time, carry it out once with the tools, and return
    the answer.
    """
    history = []
    for _ in range(10):
        step = planner(goal, history)
        if step["action"] == "done":
            return step["answer"]
        tools[step["action"]](step["a"], step["b"])
        history.append(step["action"])
    return None


CALCULATOR = {"multiply": lambda a, b: a * b, "add": lambda a, b: a + b}
CLOCK = {"multiply": lambda a, b: a * b % 24, "add": lambda a, b: (a + b) % 24}

if __name__ == "__main__":
    print("calculator, 12 * 4 + 5 =", solve("12 * 4 + 5", CALCULATOR))
    print("calculator, 2 * 3 + 4 =", solve("2 * 3 + 4", CALCULATOR))
    print("24-hour clock, 12 * 4 + 5 =", solve("12 * 4 + 5", CLOCK))


# %% test
def test_another_goal_has_another_answer(program):
    for a, b, c in ((12, 4, 5), (2, 3, 4), (0, 9, 1), (7, 7, 7)):
        answer = program.solve(f"{a} * {b} + {c}", program.CALCULATOR)
        assert answer == a * b + c, f"solve('{a} * {b} + {c}') gave {answer}, wanted {a * b + c}"


def test_the_answer_is_what_the_tools_say(program):
    tools = {"multiply": lambda a, b: 1000, "add": lambda a, b: a + b}
    answer = program.solve("2 * 3 + 4", tools)
    assert answer == 1004, f"the multiply tool says 1000, so 2 * 3 + 4 is 1004 here; solve gave {answer}"
    answer = program.solve("2 * 3 + 4", {"multiply": lambda a, b: 6, "add": lambda a, b: "ten"})
    assert answer == "ten", f"the add tool says 'ten'; solve gave {answer!r}"


def test_each_tool_is_called_once_with_what_it_needs(program):
    calls = []

    def multiply(a, b):
        calls.append(("multiply", a, b))
        return 500

    def add(a, b):
        calls.append(("add", a, b))
        return 501

    program.solve("2 * 3 + 4", {"multiply": multiply, "add": add})
    assert calls == [("multiply", 2, 3), ("add", 500, 4)], f"multiply says 500; the calls were {calls}"


# %% hints
HINT = """List every number that the planner uses. For each, say where it comes from."""
QUESTION = """Which of the planner's numbers can't be known before a tool has run? How could the planner obtain them?"""
SEEN = """"The Planner-Executor Pattern: How Smart AI Teams Split the Work", an article: 48 and 53 are hard-coded in its toy
planner, and the text below it says that the planner never does any math itself."""
