"""In a browser tab, without threads, processes, sockets and alarms: errors name an alternative, or another way is used."""

import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from exercises.checker import guard
from mock_llm import MockLLM
from planexec_lab.worlds import refactor
from planexec_lab.worlds.refactor import suite
from planexec_lite import Pool, Tool, Toolbox

modern = pytest.mark.skipif(sys.version_info < (3, 12), reason="a tab has Python 3.14; sys.monitoring came with 3.12")


async def fetch() -> str:
    return "here"


MISSING: dict[str, tuple[Callable[[], Any], str]] = {
    "threads": (lambda: Pool(ThreadPoolExecutor(1)), "browser tab has no threads; use Inline or Simulated"),
    "an async tool": (
        lambda: Toolbox([Tool(fetch, effects="none")])["fetch"].call({}), "browser tab has none; use a plain def",
    ),
    "sockets": (lambda: MockLLM([]).serve().__enter__(), r"browser tab has no sockets; use client\(\)"),
}  # fmt: skip


@pytest.mark.parametrize("what", MISSING)
def test_errors_in_a_tab_name_an_alternative(what: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")  # Pyodide's name for its platform
    use, words = MISSING[what]
    with pytest.raises(RuntimeError, match=words):
        use()


@pytest.mark.parametrize("change", ["", "none", "fault", "loop of imports"])
def test_the_suite_gives_the_same_result_in_this_process_and_apart(
    change: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = refactor.World()
    auth = world.project.folder / "shop" / "auth.py"
    if change == "fault":
        auth.write_text(auth.read_text(encoding="utf-8").replace("return", "return None and", 1), encoding="utf-8")
    if change == "loop of imports":
        auth.write_text("from shop.auth import nothing\n", encoding="utf-8")
    apart = world.run_test_suite()
    modules, path = dict(sys.modules), list(sys.path)
    monkeypatch.setattr(suite, "_apart", suite._here)
    assert world.run_test_suite() == apart
    assert world.run_test_suite() == apart, "a second time"
    assert {name for name in modules if sys.modules.get(name) is not modules[name]} == set()
    assert sys.path == path


@modern
@pytest.mark.parametrize("source", ["while True: pass", "while True:\n  try: x = 1 / 0\n  except: pass", "x = f(f)"])
def test_an_endless_loop_is_stopped_in_a_tab(source: str) -> None:
    code = compile(f"def f(g):\n  while True: g.__name__.upper()\n{source}", "<answer>", "exec")
    with pytest.raises(guard.TimeUp, match=r"after 0\.6 s of CPU time"):
        guard._in_a_tab(lambda: exec(code, {}), guard.Clock(0.1, 30))
    assert guard._in_a_tab(lambda: sum(range(100_000)), guard.Clock(1, 30)) == 4999950000
