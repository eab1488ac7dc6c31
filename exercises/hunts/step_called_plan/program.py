"""Ask a model for a plan. The model is a script that follows the rules of the real service."""

import json

STEPS = [{"id": 1, "tool": "search"}, {"id": 2, "tool": "read"}, {"id": 3, "tool": "report"}]


def create_plan(goal, model):
    """Return the steps of a plan, as a list of dicts; raise ValueError if the answer contains no list of steps."""
    prompt = f"Goal: {goal}\nReturn ONLY a JSON list of steps, each with an id and a tool."
    answer = json.loads(model(prompt, response_format={"type": "json_object"}))
    return answer.get("steps", answer) if isinstance(answer, dict) else answer


def model(prompt, response_format=None, steps=STEPS, name="plan"):
    """Answer in JSON.

    With a response format, every answer is an object. If the prompt names the key, as in {"steps": [...]}, or a schema
    does, the model uses that key. Otherwise it chooses a `name`, and a plan of one step can be returned as that step.
    Without a format, it returns what the prompt asks for.
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
