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
