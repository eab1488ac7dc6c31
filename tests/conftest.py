"""What every test stands on: no network, no real endpoint, and property tests that do the same on every CI run.

At the end of a run stands how many seconds each part took (`make test`, `make wide`, `make weekly`).
"""

import gc
import multiprocessing
import os
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from copy import deepcopy
from functools import cache
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from planexec_lite import Inline, Journal, Pool, Simulated
from planexec_lite.workers import Workers
from tests.network_cut import sitecustomize  # noqa: F401  (importing it cuts the network for this process)
from tests.rounds import ALL

gc.set_threshold(
    100_000, 20, 50
)  # else a quarter of the time of a collection, and more in some tests, goes to the collector

for variable in [name for name in os.environ if name.startswith(("PLANEXEC_", "OPENAI_"))]:
    if variable != "PLANEXEC_COMPARE":
        del os.environ[variable]

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=50)
settings.register_profile("quick", settings.get_profile("here"), max_examples=5)
settings.register_profile("few", settings.get_profile("here"), max_examples=10)  # while a changed line is looked for
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
settings.register_profile(ALL, settings(), max_examples=100)


@pytest.fixture(scope="module")
def threads() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(8) as pool:
        yield pool


@pytest.fixture(scope="module")
def processes() -> Iterator[ProcessPoolExecutor]:
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@pytest.fixture(params=["inline", "simulated", "simulated 1", "threads", "processes"])
def workers(request: pytest.FixtureRequest) -> Workers:
    """Each kind of workers."""
    if request.param in ("threads", "processes"):
        return Pool(request.getfixturevalue(request.param))
    here: dict[str, Workers] = {"inline": Inline(), "simulated": Simulated(), "simulated 1": Simulated(1)}
    return here[request.param]


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    return Journal(tmp_path / "runs.db")


@pytest.fixture(scope="session", autouse=True)
def files_do_not_wait_for_the_disk() -> Iterator[None]:
    """No test cuts the power."""
    with pytest.MonkeyPatch.context() as patched:
        settings = "planexec_lite.storage.sqlite_file.SETTINGS"
        patched.setattr(settings, "PRAGMA foreign_keys = ON; PRAGMA synchronous = OFF;")
        yield


@pytest.fixture(scope="session", autouse=True)
def scripts_and_type_hints_are_read_once() -> Iterator[None]:
    """The scripts of the worlds are YAML of a few hundred lines, read for every run: a tenth of the time of some parts.

    Another tenth are the type hints of the tools, which worlds and checks of exercises make again for every run.
    """
    from mock_llm.script import loading

    tool = import_module("planexec_lite.tools.tool")  # `planexec_lite.tools.tool` is the function
    parsed, read, known = cache(loading.read_yaml), tool.arguments_of, dict[Any, Any]()

    def arguments_of(name: str, function: Any, doc: str) -> Any:
        plain = getattr(function, "__func__", function)
        ours = isinstance(plain, FunctionType) and plain.__module__.startswith(("planexec_lab.", "exercises."))
        if not ours or hasattr(plain, "__wrapped__"):
            return read(name, function, doc)
        key = (name, doc, plain is function, plain.__code__, repr(plain.__defaults__), repr(plain.__kwdefaults__))
        if key not in known:
            known[key] = read(name, function, doc)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(loading, "read_yaml", lambda text: deepcopy(parsed(text)))
        patch.setattr(tool, "arguments_of", arguments_of)
        yield


@pytest.fixture(scope="session")
def running_lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The JupyterLab of all browser tests of this process, started by `make lab` in a fresh copy."""
    from tests.browser.lab import started

    with started(tmp_path_factory.mktemp("lab")) as running:
        yield running


@pytest.fixture(scope="module")
def lab(running_lab: Any) -> Iterator[Any]:
    """JupyterLab as it is after its start: no kernel runs, and every notebook is as it was copied."""
    yield running_lab
    running_lab.renew()


@pytest.fixture(scope="session")
def colab(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The Python of an environment with Colab's versions; its tests are of the group "colab", so that it is made once."""
    from tests.colab import environment

    return environment(tmp_path_factory.mktemp("colab") / "env")


def pytest_itemcollected(item: pytest.Item) -> None:
    """A property over random examples is of `make weekly` too, where it is tried on all of them (`rounds.py`)."""
    if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
        item.add_marker("random")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """In the quick round a test with many cases is tried on a sample of them: the first, and then every tenth."""
    if "not slow" not in config.getoption("markexpr"):
        return
    cases, kept, left_out = Counter[str](), list[pytest.Item](), list[pytest.Item]()
    for item in items:
        test = item.nodeid.partition("[")[0]
        cases[test] += 1
        (kept if cases[test] == 1 or cases[test] % 10 == 0 else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def pytest_collection_finish() -> None:
    """What was imported stays, so the garbage collector need not look at it again."""
    gc.freeze()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """A worker for each processor, six at most, and more beside kernels and browsers, which wait most of their time."""
    chosen = config.getoption("markexpr")
    waiting = 0 if "not browser" in chosen else 4 if chosen.startswith("wide") else 3 if "not wide" in chosen else 2
    return min(6, (os.cpu_count() or 1) + waiting)


class Announcer:
    """Says at once which test failed and why in a line, so that a run that is cut off has said it."""

    def __init__(self, reporter: pytest.TerminalReporter) -> None:
        self._reporter = reporter

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            crash = getattr(report.longrepr, "reprcrash", None)
            why = crash.message.partition("\n")[0][:200] if crash else ""
            self._reporter.write_line(f"\n{report.when} of {report.nodeid}: {why}")


def pytest_sessionstart(session: pytest.Session) -> None:
    """Announce failures where the tests are counted: in the process that has the terminal."""
    if reporter := session.config.pluginmanager.get_plugin("terminalreporter"):
        session.config.pluginmanager.register(Announcer(reporter))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the seconds of each part, a part being a folder of tests or, in `make wide` and `make weekly`, a file."""
    wide = terminalreporter.config.getoption("markexpr").startswith(("wide", "weekly"))
    seconds, counts = Counter[str](), Counter[str]()
    reports: list[Any] = [one for reported in terminalreporter.stats.values() for one in reported]
    for report in reports:
        if isinstance(report, pytest.TestReport):
            file = report.nodeid.partition("::")[0]
            part = file if wide else file.rpartition("/")[0]
            seconds[part] += report.duration
            counts[part] += report.when == "call"
    if len(seconds) > 1:
        terminalreporter.section("seconds of each part")
        for part, took in seconds.most_common():
            terminalreporter.write_line(f"{took:8.1f} s  {counts[part]:5} tests  {part}")
