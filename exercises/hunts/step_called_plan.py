"""A plan of one step called "plan"

Lesson 04 · difficulty 3 of 5 · 10 minutes

The model has a plan of three steps. The program finds one step, and it is a string.

    a plan of 3 steps
    step: {'id': 1, 'tool': 'search'}
    step: {'id': 2, 'tool': 'read'}
    step: {'id': 3, 'tool': 'report'}
"""

# %% program
"""Ask a model for a plan. The model is a script that follows the rules of the real
service.
"""

import json

STEPS = [
    {"id": 1, "tool": "search"},
    {"id": 2, "tool": "read"},
    {"id": 3, "tool": "report"},
]


def create_plan(goal, model):
    """Return the steps of a plan, as a list of dicts; raise ValueError if the answer
    contains no list of steps.
    """
    prompt = f"Goal: {goal}\nReturn ONLY a JSON list of steps, each with an id and a tool."
    answer = json.loads(model(prompt, response_format={"type": "json_object"}))
    return answer.get("steps", answer) if isinstance(answer, dict) else answer


def model(prompt, response_format=None, steps=STEPS, name="plan"):
    """Answer in JSON.

    With a response format, every answer is an object. If the prompt names the key, as in
    {"steps": [...]}, or a schema does, the model uses that key. Otherwise it chooses a
    `name`, and a plan of one step can be returned as that step. Without a format, it
    returns what the prompt asks for.
    """
    named = '"steps"' in prompt + json.dumps(response_format)
    if response_format is None and not named:
        return json.dumps(steps)
    if len(steps) == 1 and not named:
        return json.dumps(steps[0])
    return json.dumps({"steps" if named else name: steps})


if __name__ == "__main__":
    plan = create_plan("a report on renewable energy", model)
    print(f"a plan of {len(plan)} steps")
    for step in plan:
        print("step:", step)

# %% test
import json

THREE = [
    {"id": 1, "tool": "search"},
    {"id": 2, "tool": "read"},
    {"id": 3, "tool": "report"},
]
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
    for answer in (
        {"sorry": "I can't"},
        {"error": ["no tools"]},
        {"steps": "one, two"},
        {},
    ):
        try:
            plan = program.create_plan("anything", lambda prompt, response_format=None, a=answer: json.dumps(a))
        except ValueError:
            continue
        raise AssertionError(f"the model answered {answer}, which holds no steps; create_plan gave {plan!r}")


# %% hints
HINT = """The program asks for two things in one request. Read the prompt and the response format side by side."""
QUESTION = """Can an answer be a list and an object? Who should choose the key of the list?"""
SEEN = """A tutorial, "Planner-Executor architecture": its prompt asks for a plan that "is a list of steps", its request for
a JSON object, and a comment claims that the code handles both shapes. The key of the list is left to chance."""
