import json

THREE = [{"id": 1, "tool": "search"}, {"id": 2, "tool": "read"}, {"id": 3, "tool": "report"}]
ONE = [{"id": 1, "tool": "clock", "depends_on": []}]


def plan_of(program, steps, name="plan"):
    def model(prompt, response_format=None):
        return program.model(prompt, response_format, steps, name)

    return program.create_plan("what is to be done", model)


def test_the_plan_is_a_list_under_any_key(program):
    for name in ("plan", "tasks", "result"):
        plan = plan_of(program, THREE, name)
        assert plan == THREE, f"the model has a plan of three steps; create_plan gave {plan!r}"


def test_a_plan_can_have_one_step(program):
    plan = plan_of(program, ONE)
    assert plan == ONE, f"the model has a plan of one step; create_plan gave {plan!r}"


def test_an_answer_without_steps_is_refused(program):
    for answer in ({"sorry": "I can't"}, {"error": ["no tools"]}, {"steps": "one, two"}, {}):
        try:
            plan = program.create_plan("anything", lambda prompt, response_format=None, a=answer: json.dumps(a))
        except ValueError:
            continue
        raise AssertionError(f"the model answered {answer}, which holds no steps; create_plan gave {plan!r}")
