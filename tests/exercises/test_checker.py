"""The verbs never raise, whatever the answer does, and the next check still works."""

import gc
import importlib
import os
import signal
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import nbformat
import pytest

from exercises import book, check, checker, exercise, guard, hint, progress, record, solution
from exercises.checker import judged
from exercises.exercise import Trial, Wrong, copied, cut, find, shown, unforeseen
from exercises.guard import TimeUp, guarded
from planexec_lite import Plan, Simulated, Toolbox, ToolExecutor, execute, meter, tool
from tests.exercises.answers import ALL, of_lesson, run_cell
from tests.guards import books

ID = "01.2"
LOOP = "def run(goal, planner, executor):\n"
ODD = {
    "loops for ever": (
        "    while True:\n        pass\n",
        "raised",
        "the check stopped your answer after 0.3 s of CPU time",
    ),
    "loops and catches everything": (
        "    while True:\n        try:\n            planner(goal, {})\n        except BaseException:\n            pass\n",
        "raised",
        "Every loop needs a bound.",
    ),
    "sleeps": ("    import time\n    time.sleep(60)\n", "raised", "the check stopped your answer after 1 s of waiting"),
    "leaves Python": ("    raise SystemExit(3)\n", "raised", "SystemExit: 3"),
    "calls exit": ("    import sys\n    sys.exit()\n", "raised", "SystemExit"),
    "interrupts": ("    raise KeyboardInterrupt\n", "raised", "KeyboardInterrupt"),
    "calls itself": ("    return run(goal, planner, executor)\n", "raised", "RecursionError"),
    "prints a megabyte": ("    print('x' * 1_000_000)\n", "wrong", "and 999,401 characters more"),
    "prints for ever": ("    while True:\n        print('again')\n", "raised", "characters more"),
    "replaces the printer": ("    import sys\n    sys.stdout = None\n", "wrong", "result  None"),
    "changes the checker": (
        "    import exercises.checker\n    exercises.checker.judged = None\n    return 11\n",
        "wrong",
        "exercises.checker.judged",
    ),
    "switches the trial off": (
        "    import exercises.exercise\n    exercises.exercise.Trial.want = lambda *a, **k: None\n    return 11\n",
        "wrong",
        "Trial.want",
    ),
    "changes the kit": (
        "    import planexec_lite\n    planexec_lite.Plan.problems = lambda *a: []\n",
        "wrong",
        "Plan.problems",
    ),
    "changes Python": (
        "    import builtins\n    builtins.len = lambda x: 11\n",
        "wrong",
        "builtins.len",
    ),
    "changes the hints": (
        "    import exercises.checks.lesson_01 as lesson\n    lesson.ACTIONS = ()\n    return 11\n",
        "wrong",
        "lesson_01.ACTIONS",
    ),
    "changes what it was given": ("    goal.clear()\n", "raised", "AttributeError"),
    "goes to another folder": ("    import os\n    os.chdir('/')\n    return 12\n", "wrong", "result  12"),
    "gives back a nuisance": (
        "    class Odd:\n        def __eq__(self, other): raise ValueError('odd')\n        __hash__ = None\n"
        "        def __repr__(self): raise ValueError('unspeakable')\n    return Odd()\n",
        "raised",
        "ValueError: unspeakable",
    ),
    "gives back a coroutine": ("    async def later(): ...\n    return later()\n", "wrong", "<coroutine>"),
    "still has the line of nbgrader": ("    raise NotImplementedError()\n", "not started", "NotImplementedError"),
}


def answer_with(body: str) -> dict[str, Any]:
    """A namespace in which the loop of exercise 01.2 has that body."""
    namespace = of_lesson("01")[ID].namespace()
    assert run_cell(LOOP + body, namespace).error is None
    return namespace


def right_answer() -> dict[str, Any]:
    namespace = of_lesson("01")[ID].namespace()
    run_cell(book.solved(of_lesson("01")[ID].answer), namespace)
    return namespace


@pytest.mark.parametrize(("body", "status", "wording"), ODD.values(), ids=list(ODD))
def test_an_odd_answer_gets_a_clear_outcome_and_the_next_check_works(body: str, status: str, wording: str) -> None:
    before = (judged, Trial.want, Plan.problems, len, os.getcwd(), sys.stdout)
    outcome = judged(ID, answer_with(body), seconds=0.3, draw=False, patience=1 if "waiting" in wording else None)
    assert outcome.status == status, outcome.text
    assert wording in " ".join(outcome.text.split()).replace("result ", "result  "), outcome.text
    assert len(outcome.text) < 3000
    assert (checker.judged, Trial.want, Plan.problems, len, os.getcwd(), sys.stdout) == before
    assert judged(ID, right_answer(), 30.0, draw=False).status == "right"


def test_an_answer_that_is_no_function_is_wrong() -> None:
    outcome = judged(ID, right_answer() | {"run": 5})
    assert outcome.status == "wrong"
    assert "a function" in outcome.text


def test_a_cell_that_changes_the_checker_is_undone_by_the_next_verb(capsys: pytest.CaptureFixture[str]) -> None:
    namespace = right_answer() | {"check": check}
    exec(
        "import exercises\nexercises.checker.judged = lambda *a: print('hacked')\nexercises.exercise.find = None",
        namespace,
    )
    exec('check("01.2")', namespace)
    assert "01.2 · Right" in capsys.readouterr().out


def test_the_thread_stops_what_the_alarm_can_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(guard, "_alarm_rings", lambda: False)
    outcome = judged(ID, answer_with("    while True:\n        pass\n"), seconds=0.3, draw=False)
    assert "after 0.3 s of CPU time, in line 2 of run" in " ".join(outcome.text.split())
    assert judged(ID, right_answer(), 30.0, draw=False).status == "right"
    assert guarded(lambda: [][0], 1.0).error.__class__ is IndexError


@pytest.fixture(params=["by an alarm", "on a thread"])
def limited(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways in which an answer is stopped."""
    if request.param == "on a thread":
        monkeypatch.setattr(guard, "_alarm_rings", lambda: False)
    return str(request.param)


def test_a_right_answer_on_a_machine_that_crawls_is_right(limited: str, monkeypatch: pytest.MonkeyPatch) -> None:
    late = SimpleNamespace(process_time=time.process_time, monotonic=lambda: 100 * time.process_time())
    monkeypatch.setattr(guard, "time", late)  # 0.05 s of work take 5 s
    ended = guarded(lambda: burned(0.05), 1.0)
    assert ended.error is None


def burned(seconds: float) -> None:
    """Use that much CPU time."""
    until = time.process_time() + seconds
    while time.process_time() < until:
        pass


@pytest.mark.slow
@pytest.mark.parametrize("name", ["heavy", "heavy_package.inner"])
def test_an_import_costs_nothing_and_is_never_interrupted(
    name: str, limited: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    burn = (
        "import time\nuntil = time.process_time() + 0.6\nwhile time.process_time() < until:\n    pass\nwhole = True\n"
    )
    (tmp_path / "heavy_package").mkdir()
    for file in ("heavy.py", "heavy_package/__init__.py", "heavy_package/inner.py"):
        (tmp_path / file).write_text(burn, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    try:
        ended = guarded(lambda: importlib.import_module(name).whole, 0.2, patience=0.2)
        assert ended.value is True, ended.error
        endless = guarded(lambda: importlib.import_module(name) and [None for _ in iter(int, 1)], 0.2)
        assert isinstance(endless.error, TimeUp)
    finally:
        for loaded in [one for one in sys.modules if one.startswith("heavy")]:
            del sys.modules[loaded]


@pytest.mark.slow
def test_a_module_that_never_ends_is_no_import(limited: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "never_ends.py").write_text("while True:\n    pass\n", encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(guard, "IMPORTING", 0.3)
    assert isinstance(guarded(lambda: importlib.import_module("never_ends"), 0.1).error, TimeUp)
    assert "never_ends" not in sys.modules


FRESH = """
import os, sys
from exercises import book
from exercises.checker import judged
from exercises.exercise import find
from tests.exercises.answers import ALL, of_lesson, run_cell

for lesson in book.lessons():
    if os.fork() == 0:  # what one lesson loads is not there for the next
        for one in of_lesson(lesson).values():
            find(one.id)
            namespace = one.namespace()
            run_cell(book.solved(one.answer), namespace)
            before = set(sys.modules)
            assert judged(one.id, namespace, draw=False).status == "right", one.id
            heavy = {"openai", "openai.resources.chat.completions", "httpx2", "asyncio", "matplotlib", "sqlite3"}
            print(one.id, *sorted((set(sys.modules) - before) & heavy))
        sys.stdout.flush()
        os._exit(0)
    os.wait()
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="a fresh process for each lesson is forked")
def test_what_a_check_needs_is_loaded_before_its_clock_starts(tmp_path: Path) -> None:
    done = books.run("-c", FRESH, scratch=tmp_path)
    assert done.stdout.splitlines() == [one.id for one in ALL]


def test_a_check_on_another_thread_has_its_limit_too() -> None:
    outcomes: list[Any] = []
    namespace = answer_with("    while True:\n        pass\n")
    thread = threading.Thread(target=lambda: outcomes.append(judged(ID, namespace, seconds=0.3, draw=False)))
    thread.start()
    thread.join(20)
    assert outcomes[0].status == "raised"


LEFT_BEHIND = """
import sys, threading
from exercises import guard
guard.AGAIN = 0.001
ended, lock = [], threading.Lock()
lock.acquire()
def check():
    ended.append(guard.guarded(lock.acquire, 0.05, (), patience=0.1))
one = threading.Thread(target=check)
one.start()
one.join()
called = []
sys.setprofile(lambda *what: called.append(what[1]))
(lambda: None)()
sys.setprofile(None)
print(type(ended[0].error).__name__, called[:2])
"""


@pytest.mark.slow
def test_a_wait_that_is_left_behind_disturbs_no_profiler(tmp_path: Path) -> None:
    done = books.run("-X", "faulthandler", "-c", LEFT_BEHIND, scratch=tmp_path, timeout=60)
    assert done.stdout == "TimeUp ['call', 'return']\n"


SLOW = """
import time
from exercises import guard
guard.AGAIN = 0.001
look, deepest, depth = guard.Clock.look, 0, 0
def slow_look(*what):
    global deepest, depth
    depth += 1
    deepest = max(deepest, depth)
    until = time.monotonic() + 0.01
    while time.monotonic() < until:
        pass
    try:
        return look(*what)
    finally:
        depth -= 1
guard.Clock.look = slow_look
def circles():
    while True:
        pass
print(type(guard.guarded(circles, 0.1, ()).error).__name__, deepest)
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm signal")
def test_a_machine_that_is_slower_than_the_alarm_stops_an_answer_all_the_same(tmp_path: Path) -> None:
    assert books.run("-c", SLOW, scratch=tmp_path, timeout=60).stdout == "TimeUp 1\n"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there is no alarm signal")
def test_the_alarm_leaves_the_signals_as_they_were() -> None:
    before = signal.getsignal(signal.SIGALRM)
    assert isinstance(guarded(lambda: [None for _ in iter(int, 1)], 0.05).error, TimeUp)
    assert signal.getsignal(signal.SIGALRM) == before
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)


def test_verbs_say_which_exercises_there_are(capsys: pytest.CaptureFixture[str]) -> None:
    for verb in (check, hint, solution):
        for id in ("01.9", "99.1", "", "os", "../etc", 3, None):
            verb(id)
            assert "There is no exercise" in capsys.readouterr().out
    check("01.9")
    assert "Lesson 01 has 01.1, 01.2" in capsys.readouterr().out


def test_a_failing_checker_says_so_and_does_not_raise(capsys: pytest.CaptureFixture[str]) -> None:
    class Odd:
        def __str__(self) -> str:
            raise ValueError("no name")

    for verb in (check, hint, solution, progress):
        verb(Odd())
        printed = capsys.readouterr().out
        assert "The checker itself failed; this is not your fault: ValueError: no name" in printed or verb is progress


def test_hints_come_one_by_one(capsys: pytest.CaptureFixture[str]) -> None:
    checker._HINTED.clear()
    for number in (1, 2):
        hint(ID)
        words = " ".join(capsys.readouterr().out.split())
        assert words == f"{ID} · Hint {number} of 2 {find(ID).hints[number - 1]}"
    hint(ID)
    assert f'There are 2 hints. `solution("{ID}")`' in capsys.readouterr().out


def test_solution_shows_the_answer_without_its_markers(capsys: pytest.CaptureFixture[str]) -> None:
    solution("01.3")
    printed = capsys.readouterr().out
    assert 'history["add"]' in printed
    assert "BEGIN" not in printed
    assert "a + b" not in printed, "the broken code is no part of it"


def test_the_picture_comes_before_the_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    exec('check("01.2")', right_answer() | {"check": check})
    printed = capsys.readouterr().out
    assert printed.index("The steps that your loop ran") < printed.index("01.2 · Right")


def test_progress_is_kept_in_the_file_and_right_stays_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "deep" / "progress.json"
    monkeypatch.setenv("PLANEXEC_PROGRESS", str(path))
    record.remember("01.1", "not started")
    assert not path.exists()
    record.remember("01.1", "wrong")
    assert record.known() == {"01.1": "wrong"}
    record.remember("01.1", "right")
    record.remember("01.1", "raised")
    assert record.known() == {"01.1": "right"}
    assert "1 of 4 right" in record.board("01").text
    assert "✓ right" in record.board("01").text


@pytest.mark.parametrize("stored", ["", "not json", "[1, 2]", '{"01.1": 7, "01.2": "right"}', "\x00"])
def test_a_spoilt_file_is_no_obstacle(stored: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    path = tmp_path / "progress.json"
    path.write_text(stored, encoding="utf-8")
    monkeypatch.setenv("PLANEXEC_PROGRESS", str(path))
    record.board()
    record.remember("01.3", "right")
    assert record.known()["01.3"] == "right"


def test_a_folder_that_can_not_be_written_is_no_obstacle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("PLANEXEC_PROGRESS", str(tmp_path / "file" / "progress.json"))
    record.remember("01.3", "right")
    assert record.known() == {"01.3": "right"}


def test_running_a_solution_is_not_solving(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("PLANEXEC_PROGRESS")
    for checkout in (books.ROOT, checkout_at(tmp_path / "copy")):
        for folder in ("source", "solutions"):
            monkeypatch.chdir(checkout / "exercises" / folder)
            assert record.place() is None
    (tmp_path / "solutions").mkdir()
    monkeypatch.chdir(tmp_path / "solutions")
    assert record.place() is not None, "a folder of the learner's own may have that name"


@pytest.mark.parametrize("folder", [".", "exercises", "exercises/student", "notebooks"])
def test_progress_is_kept_in_the_checkout_that_the_notebook_stands_in(
    folder: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PLANEXEC_PROGRESS")
    for checkout in (books.ROOT, checkout_at(tmp_path / "copy")):
        monkeypatch.chdir(checkout / folder)
        assert record.place() == checkout / "exercises" / "progress.json"


def test_progress_of_a_notebook_outside_of_any_checkout_is_kept_in_ours(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.delenv("PLANEXEC_PROGRESS")
    monkeypatch.chdir(tmp_path)
    assert record.place() == book.HERE / "progress.json"


def checkout_at(folder: Path) -> Path:
    """The folders of a checkout, copied; of its files only the one that keeps the progress."""
    for name in ("notebooks", "exercises/source", "exercises/solutions", "exercises/student"):
        (folder / name).mkdir(parents=True)
    (folder / "exercises" / "record.py").write_bytes((book.HERE / "record.py").read_bytes())
    return folder


def test_progress_shows_one_lesson_or_all(capsys: pytest.CaptureFixture[str]) -> None:
    progress("01")
    assert capsys.readouterr().out.startswith("Lesson 01: 0 of 4 right")
    progress()
    assert capsys.readouterr().out.startswith("All lessons: 0 of ")


def test_values_are_shown_the_same_on_every_run() -> None:
    assert shown({"b", "a"}) == "{'a', 'b'}"
    assert shown([({"x": {3, 1}},), set(), find, int]) == "[({'x': {1, 3}},), set(), find, int]"
    assert shown([object(), Simulated]) == "[<object>, Simulated]"
    assert cut("x" * 1000).count("x") == 230


def test_plain_data_is_copied_and_the_rest_is_handed_on() -> None:
    spy = object()
    data = {"a": [spy, {"b": (1, [2])}]}
    copy = copied(data)
    assert copy == data
    assert copy["a"] is not data["a"]
    assert copy["a"][0] is spy


def test_what_is_drawn_by_lot_depends_on_the_answer_alone() -> None:
    spaces: list[dict[str, Any]] = [{}, {}, {}]
    for space, text in zip(spaces, ("return 1", "return 1", "return 2"), strict=True):
        exec(f"def answer():\n    {text}\n", space)
    one, same, other = (unforeseen(space["answer"], 3) for space in spaces)
    assert one == same != other
    assert len(set(one)) == 3
    assert unforeseen(copied, 2) == unforeseen(copied, 2) != unforeseen(cut, 2)


def test_an_answer_that_changes_its_argument_is_told_so() -> None:
    given = {"rows": [1, 2]}, Plan.parse([{"tool": "look"}])
    trial = Trial()
    assert trial.call(lambda data, plan: sorted(data["rows"]) and plan.graph, *given) == {"1": ()}
    with pytest.raises(Wrong) as wrong:
        trial.call(lambda data, plan: data["rows"].pop(), *given)
    assert wrong.value.wanted == "`data` unchanged; after the call it is {'rows': [1]}"
    assert given[0] == {"rows": [1, 2]}, "the check's own data is not touched"


def test_an_answer_that_is_stopped_has_not_come_back() -> None:
    trial = Trial()
    with pytest.raises(Wrong):
        trial.call(lambda ask: ask(), lambda: trial.wrong("no question", "Nobody asks."))
    assert trial.came == exercise.STOPPED


def test_an_answer_can_not_catch_the_verdict_by_accident() -> None:
    def careless() -> None:
        with suppress(Exception):
            Trial().wrong("a", "b")

    with pytest.raises(Wrong):
        careless()
    assert not issubclass(exercise.Raised, Exception)


def test_a_spy_among_the_tools_ends_the_answer_through_the_workers() -> None:
    trial = Trial()

    @tool(effects="none")
    def shout(text: str) -> str:
        """Shout the text."""
        trial.wrong("silence", "Nobody shouts here.")

    def answer(plan: Plan) -> Any:
        return execute(plan, ToolExecutor(Toolbox([shout])), workers=Simulated()).answer

    plan = Plan.parse([{"tool": "shout", "params": {"text": "now"}}])
    ended = guarded(lambda: trial.call(answer, plan), 5.0)
    assert isinstance(ended.error, Wrong)
    assert trial.called.startswith("answer(Plan(")


def test_a_picture_that_can_not_be_drawn_is_left_out() -> None:
    ended = guarded(lambda: Trial().show(lambda: 1 / 0), 1.0)
    assert ended.error is None
    namespace = answer_with("    executor({'action': object()})\n    return 1\n")
    assert judged(ID, namespace).status in ("wrong", "raised")


SAME = {
    "code": ("def f(a):\n    return a + 1", "def f(a):\n    # why\n    return a + 1", "def f(a):\n    return a + 2"),
    "a default": ("def f(a=1): ...", "def f(a = 1): ...", "def f(a=2): ..."),
    "an inner function": (
        "def f():\n    return lambda: 1",
        "def f():\n    return lambda: 1",
        "def f():\n    return lambda: 2",
    ),
    "one and True": ("def f():\n    return 1", "def f():\n    return 1", "def f():\n    return True"),
    "data": ("f = {'a': [1, (2, 3)]}", "f = {'a': [1, (2, 3)]}", "f = {'a': [1, (2, 4)]}"),
    "a class": (
        "class f:\n    def g(self): ...",
        "class f:\n    def g(self): ...",
        "class f:\n    def g(self): return 1",
    ),
    "a tool": (
        "from planexec_lite import tool\n@tool\ndef f(a: int) -> int: ...",
        "from planexec_lite import tool\n@tool\ndef f(a: int) -> int: ...",
        "from planexec_lite import tool\n@tool(effects='once')\ndef f(a: int) -> int: ...",
    ),
    "a planner": (
        "from planexec_lite import RulePlanner\nf = RulePlanner(lambda goal: [])",
        "from planexec_lite import RulePlanner\nf = RulePlanner(lambda goal: [])",
        "from planexec_lite import RulePlanner\nf = RulePlanner(lambda goal: [goal])",
    ),
    "a policy": (
        "from planexec_lite import Policy\nf = Policy(max_steps=3)",
        "from planexec_lite import Policy\nf = Policy(max_steps=3)",
        "from planexec_lite import Policy\nf = Policy(max_steps=4)",
    ),
}


@pytest.mark.parametrize(("given", "untouched", "changed"), SAME.values(), ids=list(SAME))
def test_an_answer_is_started_when_it_says_something_else_than_the_stub(
    given: str, untouched: str, changed: str
) -> None:
    def value(source: str) -> Any:
        namespace: dict[str, Any] = {"__name__": "__main__"}
        exec(source, namespace)
        return namespace["f"]

    assert checker._same(value(given), value(untouched))
    assert not checker._same(value(given), value(changed))


@pytest.mark.notebooks
def test_in_a_kernel_an_endless_answer_is_stopped_and_the_next_check_works(tmp_path: Path) -> None:
    endless = LOOP + "    while True:\n        try:\n            pass\n        except BaseException:\n            pass"
    cells = [
        "import os\n\nos.environ['PLANEXEC_PROGRESS'] = ''",
        "from exercises import check\nfrom exercises.exercise import find",
        "object.__setattr__(find('01.2'), 'seconds', 0.5)",
        endless,
        "check('01.2')",
        LOOP + "    raise SystemExit",
        "check('01.2')",
        book.solved(of_lesson("01")[ID].answer),
        "check('01.2')",
    ]
    path = books.write(tmp_path / "01_endless.ipynb", *map(books.code, cells))
    done = books.run(".ci/notebooks.py", path, scratch=tmp_path)
    assert done.returncode == 0, done.stdout
    outputs = [output for cell in nbformat.read(path, as_version=4).cells for output in cell.outputs]
    texts = [output.text.splitlines()[0] for output in outputs if output.output_type == "stream"]
    assert texts == ["01.2 · Raised an error", "01.2 · Raised an error", "01.2 · Right"]


@pytest.mark.slow
def test_an_alarm_waits_for_a_callback_of_the_collector() -> None:
    lost, until = [], time.perf_counter() + 0.3

    def slow(phase: str, info: dict[str, int]) -> None:
        try:
            while time.perf_counter() < until:
                pass
        except BaseException as problem:  # the collector would drop it
            lost.append(problem)

    def work() -> None:
        gc.callbacks.append(slow)
        try:
            gc.collect()
        finally:
            gc.callbacks.remove(slow)
        while True:
            pass

    assert isinstance(guarded(work, 0.1).error, TimeUp)
    assert not lost


def test_what_the_code_leaves_in_its_context_is_gone() -> None:
    assert guarded(lambda: meter.current.set(meter.Meter()), 1.0).error is None
    assert meter.current.get() is None
