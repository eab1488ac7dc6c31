"""The same bytes with every hash seed and time zone."""

import json

import pytest

from tests.journal.runs import printed

PRINTS = """
    import json
    from planexec_lite import Plan, Simulated
    from planexec_lite.run.events import to_dict
    from planexec_lite.model.schemas import plan_schema
    from tests.core import odd_tools
    from tests.core.agents import carry_out
    from tests.core.shapes import Job, Workshop, plan_of, step

    # thirty jobs with failures and retries; job n waits for n/2 and n/3
    before = {n: dict.fromkeys(str(n // part) for part in (2, 3) if n >= part) for n in range(1, 31)}
    plan = plan_of([Job(str(n), tuple(before[n]), n % 7, int(n % 4 == 3), n % 2) for n in before])
    runs = [carry_out(plan, Workshop().toolbox, Simulated(slots)) for slots in (1, 2, 3, None)]
    similar = [[{"id": f"task-{n:04}"} for n in range(count)] for count in (30, 400)]
    faulty = {"id": "last", "depends_on": ["task-x", "taks-0001"]}
    print(json.dumps([
        [to_dict(event) for run in runs for event in run.events],
        carry_out([step("1", "sets")], [odd_tools.sets]).results,
        [str(problem) for steps in similar for problem in Plan.parse([*steps, faulty]).problems()],
        plan_schema(Workshop().toolbox),
        plan.hash,
    ]))
"""


@pytest.mark.slow
def test_two_processes_with_other_hash_seeds_print_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    outputs = []
    for seed, zone in (("0", "UTC"), ("4711", "Pacific/Auckland")):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        monkeypatch.setenv("TZ", zone)
        outputs.append(printed(PRINTS))
    assert outputs[0] == outputs[1]
    assert all(len(json.dumps(part)) > 20 for part in json.loads(outputs[0]))
