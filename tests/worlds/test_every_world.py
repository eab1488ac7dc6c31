"""All worlds: wrong arguments, copies, pickles, no paths of this machine, and the client of a world."""

import gc
import importlib
import json
import pickle
import pkgutil
from pathlib import Path
from typing import Any

import pytest

from planexec_lab import worlds
from planexec_lab.connect import connect
from planexec_lab.worlds import bisect, deploy, flights, kitchen, migration, refactor, research, support, trail
from planexec_lite import LLMPlanner, Plan, Simulated, ToolExecutor, execute

WITH_FOLDER = (bisect, deploy, migration, refactor, research, support, trail)
with_a_plan = pytest.mark.parametrize("world", [deploy, migration, refactor, research, support])
CAUSE = {
    "order": "A-1034",
    "service": "payment",
    "error": "",
    "change": None,
    "orders": [],
    "evidence": [],
    "finding": "",
}
WRONG: list[tuple[Any, str, dict[str, Any], str]] = [
    (deploy, "deploy_production", {"tag": "v9"}, "no image 'v9'"),
    (deploy, "remove_image", {"tag": "v2.3.0"}, "v2.3.0 is deployed"),
    (deploy, "restore_database", {"file": "../production.sqlite"}, "there is no .../production.sqlite"),
    (deploy, "run_smoke_tests", {"env": "moon"}, "'staging' or 'production'"),
    (flights, "ask_traveller", {"question": " "}, "an empty question has no answer"),
    (flights, "ask_traveller", {"question": "Is LX 999 all right?"}, "there is no flight 'LX 999'; take a number that"),
    (flights, "search_flights", {"day": "Friday", "not_before": "ten"}, "'ten' is no time of day; write hours and min"),
    (flights, "hold_seat", {"flight": "LX 1", "seat": "any"}, "there is no flight 'LX 1'"),
    (flights, "book", {"hold": 7}, "there is no hold 7; take the number that hold_seat returns"),
    (kitchen, "chop", {"what": "leek"}, "'leek' can't be chopped; did you mean 'leeks'"),
    (kitchen, "simmer", {"what": ["stock", "leeks"]}, "there are no chopped leeks; chop them first"),
    (kitchen, "roast", {"what": ["chicken", "carrots"]}, "no chopped carrots"),
    (kitchen, "bake", {"what": ["dough"]}, "no dough; mix one first"),
    (kitchen, "mix", {"what": ["flour", "sugar"]}, "knows no 'sugar'"),
    (kitchen, "plate", {"course": "main"}, "nothing is roasted yet"),
    (kitchen, "serve", {"course": "starter"}, "it is not plated"),
    (migration, "write_migration", {"sql": " ;\n"}, "the migration script is empty; write SQL such as ALTER TABLE"),
    (migration, "test_migration", {"file": "x.sql"}, "there is no 'x.sql'; there are: none; make one with write_migra"),
    (migration, "run_migration", {"file": "x.sql"}, "there is no 'x.sql'; there are: none; make one with write_migra"),
    (migration, "restore_files", {"folder": "files-1"}, "there are: none; make one with backup_files"),
    (migration, "update_config", {"schema": 3}, "input should be 1 or 2"),
    (refactor, "code_search", {"text": " "}, "an empty text"),
    (refactor, "read_file", {"path": "shop/tokens.py"}, "there is no file 'shop/tokens.py'; there are: shop/__init__.py"),
    (refactor, "write_file", {"path": "shop/auth.py", "text": "\ud800"}, "surrogates not allowed"),
    (refactor, "replace_in_file", {"path": "shop/auth.py", "old": "session", "new": "x"}, "12 times, not once"),
    (refactor, "design_token_schema", {"claims": ["iat"], "minutes": 30}, "without sub and exp"),
    (refactor, "design_token_schema", {"claims": ["sub", "exp"], "minutes": 0}, "0 minutes; give 1 to 1440"),
    (refactor, "implement_jwt", {}, "shop/token.json is not there yet; call design_token_schema first"),
    (refactor, "update_endpoints", {}, "call implement_jwt first"),
    (refactor, "fix_token_header", {"endpoints": ["profile"]}, "call update_endpoints first"),
    (refactor, "restore", {"files": ["../x"]}, "'../x' is no file of the project"),
    (research, "write_report", {"sections": ["\ud800"]}, "surrogates not allowed"),
    (support, "collect_logs", {"service": "../payment"}, "'checkout', 'payment', 'fulfilment' or 'mail'"),
    (support, "fetch_archive", {"service": "mail"}, "the archive has no log of mail; it has: payment"),
    (support, "search_logs", {"text": ""}, "an empty text"),
    (support, "search_logs", {"text": "ERROR"}, "nothing was collected yet; call collect_logs first"),
    (support, "draft_fix", {"cause": CAUSE | {"order": "../x"}}, "nothing was collected"),
    (support, "draft_fix", {"cause": CAUSE | {"service": "moon"}}, "cause.service"),
    (trail, "read_log", {"name": "x.log"}, "there is no 'x.log'; begin with checkout.log"),
    (bisect, "mark_version", {"version": 33}, "there is no version 33; there are 1 to 32"),
]  # fmt: skip


def content(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def state(world: Any) -> Any:
    """The state that a tool could change: the files of a world, or its values."""
    if hasattr(world, "folder"):
        return content(world.folder)
    return json.dumps({name: value for name, value in vars(world).items() if name != "tools"}, default=str)


def carried_out(world: Any, module: Any) -> Any:
    return execute(Plan.parse(module.PLAN), ToolExecutor(world.tools), workers=Simulated(4))


@pytest.mark.parametrize(
    ("module", "tool", "params", "message"), WRONG, ids=lambda value: getattr(value, "__name__", None)
)
def test_a_wrong_argument_changes_nothing_and_leaves_no_doubt(
    module: Any, tool: str, params: dict[str, Any], message: str
) -> None:
    world = module.World()
    before, called = state(world), world.tools[tool]
    with pytest.raises((ValueError, RuntimeError), match=message) as caught:
        called.call(params)
    assert state(world) == before
    assert called.effects != "once" or isinstance(caught.value, called.not_done)


@pytest.mark.slow
@with_a_plan
def test_no_result_and_no_error_holds_its_folder_which_goes_away_with_it(world: Any) -> None:
    one = world.World()
    folder = one.folder
    runs = [carried_out(one, world), carried_out(one, world)]  # the second one fails where a world is changed for good
    stored = json.dumps([[run.results, run.board.errors] for run in runs])
    assert str(folder.parent) not in stored
    assert folder.name not in stored
    assert folder.exists()
    del one
    gc.collect()
    assert not folder.exists()


@pytest.mark.parametrize("module", WITH_FOLDER, ids=lambda module: module.__name__)
def test_a_copy_holds_the_same_and_knows_nothing_of_the_first(module: Any) -> None:
    world = module.World()
    twin = world.copied()
    assert content(twin.folder) == content(world.folder)
    assert str(world.folder) not in repr([twin.__dict__, *(getattr(one, "__dict__", 0) for one in vars(twin).values())])
    assert twin.tools.names == world.tools.names


def test_what_happens_in_a_copy_stays_there() -> None:
    world = migration.World()
    world.backup_database()
    before = content(world.folder)
    run = execute(Plan.parse(migration.DANGEROUS_PLAN), ToolExecutor(world.copied().tools), workers=Simulated())
    assert run.results["3"]["deleted"] == "production"
    assert content(world.folder) == before
    cook, traveller = kitchen.World(leeks=6), flights.World()
    cook.chop("leeks")
    twin, other = cook.copied(), traveller.copied()
    twin.simmer(["leeks", "stock"])
    other.hold_seat("LX 208", "any")
    assert (cook.chopped, cook.pantry["stock"], cook.tickets) == (["leeks"], 3, ["chop leeks"])
    assert (twin.chopped, twin.cooked) == ([], {"simmered": ["leeks", "stock"]})
    assert (len(other.holds), traveller.holds) == (1, {})


NAMES = [
    module.name
    for module in pkgutil.iter_modules(worlds.__path__)
    if hasattr(importlib.import_module(f"planexec_lab.worlds.{module.name}"), "World") and module.name != "clock"
]


@pytest.mark.parametrize("name", NAMES)
def test_the_tools_of_a_world_can_be_sent_to_another_process(name: str) -> None:
    tools = importlib.import_module(f"planexec_lab.worlds.{name}").World().tools
    received = pickle.loads(pickle.dumps(ToolExecutor(tools)))
    assert [tool.name for tool in received.tools] == [tool.name for tool in tools]


@pytest.mark.parametrize(
    ("setting", "key", "url", "used"),
    [
        ("openai", "test", "https://api.openai.com/v1/", "test"),
        ("http://127.0.0.1:9/v1", "", "http://127.0.0.1:9/v1/", "none"),
    ],
)
def test_a_setting_gives_a_client_of_that_endpoint(setting, key, url, used, monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", setting)
    monkeypatch.setenv("OPENAI_API_KEY", key)
    client = connect("deploy")
    assert (str(client.base_url), client.api_key) == (url, used)


def test_model_and_endpoint_come_from_the_environment(monkeypatch):
    assert LLMPlanner(None).model == "gpt-4o"
    monkeypatch.setenv("PLANEXEC_PLANNER_MODEL", "llama-9")
    assert LLMPlanner(None).model == "llama-9"
    assert LLMPlanner(None, "mine").model == "mine"
    monkeypatch.setenv("PLANEXEC_LLM", "opena")
    with pytest.raises(ValueError, match="PLANEXEC_LLM='opena'"):
        connect("deploy")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("deplay",), "did you mean 'deploy'"),
        (("deploy", "scene"), "did you mean 'scenes'"),
        (("x",), "there are: arith"),
    ],
)
def test_an_unknown_world_or_script_is_named_with_the_known_ones(arguments, message):
    with pytest.raises(ValueError, match=message):
        connect(*arguments)
