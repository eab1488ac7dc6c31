"""The refactor world is real: its files are read, changed and tested, and what a test alters in them changes the run."""

import base64
import json
import os
import runpy

import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import refactor
from planexec_lite import LLMPlanner, Plan, PlannerExecutor, Policy, Simulated, ToolExecutor, execute
from planexec_lite.assembly import Board
from planexec_lite.capabilities.judging import Judging, Verdict
from planexec_lite.events import PlanProposed, RunStarted, StepDone, StepFailed, StepStarted
from planexec_lite.roles.evaluators import RuleEvaluator

pytestmark = pytest.mark.slow

FIVE = ["login", "profile", "orders", "settings", "logout"]
THREE = ["profile", "orders", "settings"]


@pytest.fixture
def world():
    return refactor.World()


def run(world):
    return execute(Plan.parse(refactor.PLAN), ToolExecutor(world.tools), workers=Simulated(4))


def move(world):
    """Everything up to the endpoints, which then take the header for the token."""
    world.design_token_schema(["sub", "iat", "exp"], 30)
    world.implement_jwt()
    return world.update_endpoints()


def alter(world, name, old, new):
    path = world.project.folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def tree(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_articles_plan_is_fit_and_three_endpoints_answer_401_at_its_end(world):
    assert Plan.parse(refactor.PLAN).problems(world.tools) == []
    last = run(world).results["7"]
    assert last["summary"] == "3 endpoints return 401: profile, orders, settings"
    assert last["failed"] == [f"test_{name}: GET /{name} answers 401" for name in sorted(THREE)]


def test_the_tests_pass_before_fail_on_the_way_and_pass_after_step_5b(world):
    assert world.run_test_suite() == {"passed": 10, "failed": [], "summary": "10 tests passed"}
    assert move(world) == {"endpoints": FIVE, "changed": ["shop/endpoints.py"]}
    assert world.run_test_suite()["failed"] != []
    assert world.update_tests()["changed"] == ["tests/test_auth.py", "tests/test_endpoints.py"]
    assert world.fix_token_header(THREE) == {"endpoints": THREE, "changed": ["shop/endpoints.py"]}
    assert world.update_tests() == {"changed": [], "passed": 11, "failed": [], "summary": "11 tests passed"}
    assert world.code_search("cookies.get") == []


def test_the_tokens_are_those_of_the_standard(world, monkeypatch):
    move(world)
    monkeypatch.syspath_prepend(str(world.project.folder))
    tokens = runpy.run_path(str(world.project.folder / "shop" / "tokens.py"))
    tokens["encode"].__globals__["KEY"] = b"your-256-bit-secret"
    claims = {"sub": "1234567890", "name": "John Doe", "iat": 1516239022}
    known = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJzdWIiOiIxMjM0NTY3ODkwIiwibmFtZSI6IkpvaG4gRG9lIiwiaWF0IjoxNTE2MjM5MDIyfQ"
    known += ".SflKxwRJSMeKKF2QT4fwpMeJf36POk6yJV_adQssw5c"  # the example on jwt.io
    assert tokens["encode"](claims) == known
    unsigned = base64.urlsafe_b64encode(b'{"alg":"none"}').decode().rstrip("=")
    assert tokens["decode"](f"{unsigned}.{known.split('.')[1]}.", 0) is None
    expires = tokens["encode"]({"sub": "ada", "exp": 100})
    assert (tokens["decode"](expires, 99), tokens["decode"](expires, 100)) == ({"sub": "ada", "exp": 100}, None)


def test_the_schema_decides_what_a_token_holds_and_how_long_it_lasts(world):
    schema = world.design_token_schema(["exp", "sub", "iss"], 5)["schema"]
    assert schema == {"algorithm": "HS256", "claims": ["exp", "sub", "iss"], "minutes": 5}
    assert json.loads(world.read_file("shop/token.json")) == schema
    world.implement_jwt()
    world.update_endpoints()
    world.update_tests()
    world.fix_token_header(THREE)
    assert world.run_test_suite()["failed"] == []
    world.write_file("shop/token.json", json.dumps({**schema, "claims": ["sub"]}))
    assert "test_a_token_expires: KeyError: 'exp'" in world.run_test_suite()["failed"]


def test_a_bug_in_a_source_file_is_found_by_the_tests(world):
    alter(world, "shop/endpoints.py", '{"name": user}', '{"name": user.upper()}')
    assert world.run_test_suite()["summary"] == "1 test fails: test_profile"
    move(world)
    assert world.update_tests()["summary"] == "3 endpoints return 401: profile, orders, settings"
    world.fix_token_header(THREE)
    assert world.run_test_suite()["summary"] == "1 test fails: test_profile"


def test_undoing_every_step_in_reverse_brings_back_every_byte(world):
    before = tree(world.project.folder)
    results = run(world).results
    fixed = world.fix_token_header(THREE)
    for changed in (fixed, *(results[id] for id in "6543")):
        world.restore(changed["changed"])
    assert tree(world.project.folder) == before
    assert world.run_test_suite()["failed"] == []


BAD_PATHS = [
    "../secrets.txt", "shop/../../secrets.py", "/etc/passwd", "shop/../auth.py", "C:/shop/auth.py", "shop\\auth.py",
    "shop//auth.py", "~/auth.py", "", ".", "shop", "shop/auth.py\n", "shop/auth.py\0", "shop/.py", "auth.py",
    "shop/" + "a" * 300 + ".py", "SHOP/auth.py", "shop/auth.pyc", "shop/sub/auth.py", "../versions/shop-auth.py.json",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD_PATHS)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "replace_in_file"])
def test_a_path_that_is_no_file_of_the_project_is_refused_and_touches_nothing(world, tool, path):
    more = {"read_file": {}, "write_file": {"text": "x"}, "replace_in_file": {"old": "a", "new": "b"}}[tool]
    before = tree(world.folder.parent / world.folder.name)
    with pytest.raises(ValueError, match="is no file of the project"):
        world.tools[tool].call({"path": path, **more})
    assert tree(world.folder) == before


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_that_leads_out_is_not_followed(world):
    outside = world.folder / "outside.py"
    outside.write_text("kept")
    (world.project.folder / "shop" / "link.py").symlink_to(outside)
    for call in (lambda: world.read_file("shop/link.py"), lambda: world.write_file("shop/link.py", "lost")):
        with pytest.raises(ValueError, match="is no file of the project"):
            call()
    assert outside.read_text() == "kept"


def test_source_that_is_no_python_is_named_with_its_line(world):
    alter(world, "shop/endpoints.py", "def profile(request):", "def profile(request:")
    for tool in (world.list_endpoints, world.analyze_auth, world.run_test_suite):
        with pytest.raises(ValueError, match=r"shop/endpoints.py is no Python at line \d+"):
            tool()


@pytest.mark.slow
def test_tests_that_do_not_end_are_ended(world, monkeypatch):
    monkeypatch.setattr(refactor.world.suite, "_SECONDS", 1)
    world.write_file("tests/test_auth.py", "while True:\n    pass\n")
    with pytest.raises(RuntimeError, match="did not end within 1 s"):
        world.run_test_suite()


def board_after(world, failing="6", summary=None):
    """A hand-made board: the plan's steps done for real, and the step `failing` found to have failed."""
    plan = Plan.parse(refactor.PLAN)
    events = [RunStarted(0, refactor.GOAL, planner=True, reviewer=False), PlanProposed(0, plan)]
    for step in plan.steps:
        result = world.tools[step.tool].call(step.params)
        events.append(StepStarted(0, step.id))
        if step.id == failing:
            reason = f"every test passes: no; {summary or result['summary']}"
            return Board.of([*events, StepFailed(0, step.id, reason)])
        events.append(StepDone(0, step.id, result))
    raise AssertionError(failing)


def replan(world, board, script="scenes"):
    plan = LLMPlanner(connect("refactor", script)).plan(refactor.GOAL, board, world.tools)
    assert plan.problems(world.tools, done=board.results.keys()) == []
    return plan


def test_the_scripted_planner_writes_the_plan_of_the_article(world):
    plan = LLMPlanner(connect("refactor")).plan(refactor.GOAL, Board(), world.tools)
    assert plan.problems(world.tools) == []
    article = Plan.parse(refactor.PLAN)
    assert [(s.id, s.description, s.tool, s.params, s.depends_on, s.success_criteria) for s in plan.steps] == [
        (s.id, s.description, s.tool, s.params, s.depends_on, s.success_criteria) for s in article.steps
    ]
    assert str(plan) == str(article)


def test_after_three_401s_the_planner_adds_step_5b_and_the_tests_pass(world):
    plan = replan(world, board_after(world))
    assert str(plan) == (
        f"{refactor.GOAL}\n"
        "5b  fix_token_header(endpoints=['profile', 'orders', 'settings'])  (after 5)\n"
        " 6  update_tests()  (after 5b)\n"
        " 7  run_test_suite()  (after 6)"
    )
    assert plan.steps[0].description == "Fix token header format for 3 failing endpoints"
    for step in plan.steps:
        last = world.tools[step.tool].call(step.params)
    assert last["summary"] == "11 tests passed"


def judge(step, result):
    failed = isinstance(result, dict) and result.get("failed")
    return Verdict("replan", result["summary"], rejects="5") if failed else True


def judged(world, script="scenes"):
    policy = Policy(replan="failure", max_replans=3)
    planner, executor = LLMPlanner(connect("refactor", script)), ToolExecutor(world.tools)
    agent = PlannerExecutor(planner, executor, evaluator=RuleEvaluator(judge), workers=Simulated(), policy=policy)
    return agent.run(refactor.GOAL)


def test_a_judged_run_ends_with_green_tests_and_repeats_only_what_failed(world):
    run = judged(world)
    assert (run.status, run.answer["summary"]) == ("finished", "11 tests passed")
    started = [event.step for event in run.events if type(event).__name__ == "StepStarted"]
    assert started == ["1", "2", "3", "4", "5", "6", "5b", "6", "7"]
    assert "profile, orders, settings" in run.board[Judging].rejected["5"]


@pytest.mark.parametrize("script", ["stubborn", "restless"])
def test_a_planner_that_never_mends_is_stopped_and_the_shop_stays_broken(world, script):
    run = judged(world, script)
    assert run.status in ("failed", "stopped")
    assert world.run_test_suite()["summary"] == "3 endpoints return 401: profile, orders, settings"
    longer = [event.step for event in run.events if type(event).__name__ == "StepDone" and event.step > "5"]
    assert [id for id in longer if id.startswith("5")] == {"stubborn": [], "restless": ["5b", "5c", "5d"]}[script]


def test_line_ends_come_back_as_they_were():
    world = refactor.World()
    name = world.project.files[0]
    world.project.write(name, "a = 1\r\nb = 2\r\n")
    world.project.write(name, "x = 1\n")
    world.project.restore(name)
    assert (world.project.folder / name).read_bytes() == b"a = 1\r\nb = 2\r\n"
    assert world.project.write(name, "a = 1\r\nb = 2\r\n") is False
