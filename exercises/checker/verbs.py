"""check(), hint(), solution(), progress(), next(): the verbs of the exercises. None of them raises in the notebook.

An answer is not started, raised an error, is wrong, or is right. A picture of the learner's plan or run comes
before the verdict. Idea: Kaggle's learntools (four outcomes), the GPU puzzles (draw, then judge).
"""

from __future__ import annotations

import builtins
import functools
import inspect
import linecache
import os
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import CodeType, FunctionType, MethodType
from typing import Any

from planexec_lite.workers.session import described

from exercises.checker import book, guesses, record
from exercises.checker.exercise import Exercise, Raised, Trial, Unknown, Wrong, copied, find, shown, without_addresses
from exercises.checker.guard import Ended, Kept, TimeUp, guarded
from exercises.checker.purity import keeps_nothing

DRAWING = 30.0  # seconds for each picture: the first picture loads matplotlib
COLUMNS = 92  # width of a verdict, as in the lessons
DEPTH = 6  # depth of the comparison of two values
FIRST = "In a new process, this call gives another result. Your answer keeps something between calls."
KEPT = "The same call was right the first time this check ran. Your answer keeps something between calls."
ANEW = (
    "The same call was right before the check ran your cell again, as a new process does. Each run must give the same."
)
_HINTED: dict[str, int] = {}
_RERUN: list[str] = []  # the exercises whose cell runs again: its verbs do nothing


@dataclass(frozen=True)
class Outcome:
    """The outcome of a check: status "not started", "raised", "wrong" or "right", the message, and the pictures."""

    status: str
    text: str
    figures: tuple[Any, ...] = ()


def _steady(verb: Callable[..., None]) -> Callable[..., None]:
    """Return a verb that first restores the checker's state and never raises."""
    kept: list[Kept] = []

    @functools.wraps(verb)
    def steady(*arguments: Any) -> None:
        if _RERUN:
            return
        if kept:
            kept[0].restore()
        try:
            verb(*arguments, sys._getframe(1).f_globals)
        except Unknown as problem:
            print(problem)
        except Exception as problem:
            print(f"The checker itself failed; this is not your fault: {type(problem).__name__}: {problem}")

    steady.keep = lambda: kept.append(Kept(("exercises",)))  # type: ignore[attr-defined]
    return steady


@_steady
def check(id: str, namespace: dict[str, Any]) -> None:
    """Check your answer to an exercise, `check("01.2")`: draw what it does, then print the verdict."""
    outcome = judged(id, namespace)
    record.remember(id, outcome.status)
    for figure in outcome.figures:
        display(figure)
    show(outcome)


@_steady
def hint(id: str, namespace: dict[str, Any]) -> None:
    """Print a hint, `hint("01.2")`; the second call prints the second hint, and a later call names `solution`."""
    hints, number = find(id).hints, _HINTED.get(id, 0)
    if number == len(hints):
        print(f'{id} · There are {number} hints. `solution("{id}")` shows one solution.')
        return
    _HINTED[id] = number + 1
    print(f"{id} · Hint {number + 1} of {len(hints)}\n{_wrapped(hints[number])}")


@_steady
def solution(id: str, namespace: dict[str, Any]) -> None:
    """Print one right answer, `solution("01.2")`. `check` accepts other right answers too."""
    source = book.answer(find(id).id) or book.part(id)
    print(
        f"{id} · One solution\n" + textwrap.indent(book.solved(source or "# the solution is not available here"), "  ")
    )


@_steady
def progress(*lesson_and_namespace: Any) -> None:
    """Show your progress in one lesson, `progress("01")`, or on a path, `progress("one week")`.

    `progress()` shows all lessons, and how good your guesses were.
    """
    lesson = lesson_and_namespace[:-1]
    display(record.board(*lesson))
    if not lesson and (made := guesses.guesses()):
        display(guesses.board(made))
    _next(*lesson)


@_steady
def _next(*lesson_and_namespace: Any) -> None:
    """Print a link to the next exercise that is not solved, from a lesson on."""
    if one := record.unsolved(*lesson_and_namespace[:-1]):
        display(Link(one))
    else:
        print("You have solved all exercises.")


def next(*arguments: Any) -> Any:
    """Print a link to the next exercise that you have not solved; with arguments, do what Python's own `next` does."""
    return builtins.next(*arguments) if arguments else _next()


@dataclass(frozen=True)
class Link:
    """A link to an exercise; JupyterLab opens its notebook at its heading."""

    exercise: book.Facts

    @property
    def notebook(self) -> str:
        """The file name of its notebook."""
        return book.notebook(self.exercise.id.partition(".")[0])

    def _repr_markdown_(self) -> str:
        file = record.place()
        folders = [Path.cwd(), *([file.parent] if file else []), book.HERE]
        folder = builtins.next(each for each in folders if (each / self.notebook).exists())
        path = Path(os.path.relpath(folder / self.notebook)).as_posix()
        return f"Next: [{self.exercise.id} · {self.exercise.title}]({path}#cell-id={self.exercise.cell})"

    def __repr__(self) -> str:
        return f"Next: {self.exercise.id} · {self.exercise.title}, in {self.notebook}"


def judged(
    id: str,
    namespace: dict[str, Any],
    seconds: float | None = None,
    draw: bool = True,
    patience: float | None = None,
    anew: Callable[[], list[Any]] | None = None,
) -> Outcome:
    """Check the answer in a namespace. Raises `Unknown` for an unknown id.

    A right answer that might keep something between calls is checked twice more: the same objects again, then new ones
    from the same cell. `seconds` replaces the exercise's limit of CPU time, and `patience` the limit for
    waiting, in seconds. `anew` runs the cell again, if the answer is in another process.
    """
    one = find(id)
    missing = [name for name in one.names if name not in namespace]
    if missing:
        return _told(one, "not started", f"`{missing[0]}` is not defined yet. Run the cell above, then this cell.")
    answers = [copied(namespace[name]) for name in one.names]
    given = guarded(lambda: _as_given(one, namespace), one.seconds, ())
    if given.value:
        names = " and ".join(f"`{name}`" for name in one.names)
        is_or_are = "are" if len(one.names) > 1 else "is"
        return _told(
            one, "not started", f"{names} {is_or_are} unchanged. Write your answer in the cell above and run it."
        )
    fresh, limit = anew or functools.partial(_anew, one, answers, namespace), seconds or one.seconds

    def tried(chosen: Callable[[], list[Any]], draw: bool, rule: str) -> Outcome:
        trial = Trial(draw, anew=fresh)
        ended = guarded(lambda: one.judge(trial, *chosen()), limit, patience=patience)
        if isinstance(ended.error, Wrong) and _keeps_state(trial, answers, fresh, limit):
            rule = rule or FIRST
        return _outcome(one, trial, ended, namespace, rule)

    first = tried(lambda: answers, draw, "")
    if first.status == "right" and not all(map(_keeps_nothing, answers)):
        for chosen, rule in ((lambda: answers, KEPT), (fresh, ANEW)):
            later = tried(chosen, False, rule)
            if later.status != "right":
                return Outcome(later.status, later.text, first.figures)
    return first


def _keeps_state(trial: Trial, answers: list[Any], fresh: Callable[[], list[Any]], seconds: float) -> bool:
    """Return whether new processes agree on the last call, but not with its result: the answer keeps something."""
    function, args, named, came = trial.last or (None, (), {}, "")
    places = [place for place, answer in enumerate(answers) if answer is function]
    if not places or keeps_nothing(function) or any(map(_can_keep, (*args, *named.values()))):
        return False

    def again() -> str:
        return shown(fresh()[places[0]](*copied(args), **copied(named)))

    ended = [guarded(again, seconds) for _ in range(2)]
    results = {one.value if one.error is None else came for one in ended}
    return len(results) == 1 and came not in results


def _keeps_nothing(answer: Any) -> bool:
    return _code(answer) is None or keeps_nothing(answer)


def _can_keep(value: Any) -> bool:
    """Return whether a function or an object among the arguments might itself keep something between calls."""
    return callable(value) and bool(getattr(value, "__closure__", value))


def _anew(one: Exercise, answers: list[Any], namespace: dict[str, Any]) -> list[Any]:
    """Return the answers as a new process would define them: their cells run again, in a copy of the namespace.

    A name that a later cell has defined anew keeps that definition. Return the answers themselves if the source of the cells is
    not available or a cell raises.
    """
    files = dict.fromkeys(code.co_filename for code in map(_code, answers) if code is not None)
    fresh = {name: copied(value) for name, value in namespace.items() if name != "__builtins__"}
    fresh["display"] = lambda *_, **__: None
    from_cell = {name: code.co_filename for name, value in namespace.items() if (code := _code(value)) is not None}
    last = {name: copied(namespace[name]) for name, file in from_cell.items() if file not in files}
    _RERUN.append(one.id)
    try:
        for file in files:
            exec(compile("".join(linecache.getlines(file)), file, "exec"), fresh)
            last |= {name: fresh[name] for name in fresh if from_cell.get(name) == file}
    except Exception:
        return answers
    finally:
        _RERUN.clear()
    fresh |= last
    return [fresh.get(name, answer) for name, answer in zip(one.names, answers, strict=True)]


def _code(answer: Any) -> CodeType | None:
    """Return code of an answer: a function, a class or an object; None for plain data."""
    answer = inspect.unwrap(getattr(answer, "func", answer))
    if isinstance(answer, MethodType):
        answer = answer.__func__
    if isinstance(answer, FunctionType):
        return answer.__code__
    kind = answer if isinstance(answer, type) else type(answer)
    return next((one.__code__ for one in vars(kind).values() if isinstance(one, FunctionType)), None)


def _outcome(one: Exercise, trial: Trial, ended: Ended, namespace: dict[str, Any], rule: str = "") -> Outcome:
    """Describe how the trial ended; `rule` replaces the broken rule."""
    problem = ended.error
    error = problem.error if isinstance(problem, Raised) else problem
    drawn = [guarded(draw, DRAWING, ()).value for draw in trial.figures]
    figures = tuple(figure for figure in drawn if figure is not None)  # skip figures that failed
    if ended.changed:
        rule = f"An answer must not change the checker or the kit. These were restored: {', '.join(ended.changed[:3])}."
        return _told(one, "wrong", _table(trial, trial.came, one.wanted, rule, ended.printed), figures)
    if error is None:
        return _told(one, "right", one.learned, figures)
    if isinstance(error, NotImplementedError):
        return _told(one, "not started", "Your answer still contains `raise NotImplementedError`.")
    if isinstance(error, Wrong):
        return _told(one, "wrong", _table(trial, trial.came, error.wanted, rule or error.rule, ended.printed), figures)
    where = _where(error, namespace)
    if isinstance(error, TimeUp):
        came = f"nothing: the check stopped your answer {error}{where}"
        rule = rule or "Every loop needs a bound."
        return _told(one, "raised", _table(trial, came, trial.wanted or one.wanted, rule, ended.printed), figures)
    message = described(error) + where
    if isinstance(problem, Raised) or where:
        return _told(one, "raised", _table(trial, message, trial.wanted or one.wanted, rule, ended.printed), figures)
    rule = f"The result has the wrong shape ({message})."
    return _told(one, "wrong", _table(trial, trial.came, one.wanted, rule, ended.printed), figures)


def _table(trial: Trial, came: str, wanted: str, rule: str, printed: str) -> str:
    """Format the call, the scenario, the result, the expected result, and the broken rule."""
    rows = {
        trial.head: trial.called,
        "scenario": trial.scenario,
        "result": came,
        "expected": wanted,
        "rule": rule,
        "printed": printed,
    }
    return "\n".join(_wrapped(without_addresses(text), f"{name:<11}") for name, text in rows.items() if text)


def _wrapped(text: str, head: str = "") -> str:
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, COLUMNS - 2 - len(head)) or [""]]
    return "\n".join(f"  {head if not number else ' ' * len(head)}{line}" for number, line in enumerate(lines))


def _told(one: Exercise, status: str, text: str, figures: tuple[Any, ...] = ()) -> Outcome:
    """Return the outcome with a heading; wrap the text unless it is a table."""
    heading = {"raised": "Raised an error"}.get(status, status.capitalize())
    body = text if text.startswith("  ") else _wrapped(text)
    return Outcome(status, f"{one.id} · {heading}\n{body}", figures)


def _where(error: BaseException, namespace: dict[str, Any]) -> str:
    """Return the learner's line that raised, as a clause, or "" if none of the learner's lines was running."""
    place, step = getattr(error, "where", ""), error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals.get("__name__") == namespace.get("__name__"):
            number = step.tb_lineno or step.tb_frame.f_code.co_firstlineno  # an alarm may hit between two lines
            line = linecache.getline(step.tb_frame.f_code.co_filename, number).strip()
            place = f", in line {number} of {step.tb_frame.f_code.co_name}" + (f": {line}" if line else "")
        step = step.tb_next
    return place


def _as_given(one: Exercise, namespace: dict[str, Any]) -> bool:
    """Return whether every name of the exercise still has its value from the student notebook."""
    answers = [namespace[name] for name in one.names]
    if all(answer is None or answer is ... for answer in answers):
        return True
    given, stub = dict(namespace), book.given(one.id)
    if stub is None:
        return False
    exec(compile(stub, "<as given>", "exec"), given)
    return all(_same(answer, given.get(name)) for answer, name in zip(answers, one.names, strict=True))


def _same(one: Any, other: Any, depth: int = DEPTH) -> bool:
    """Return whether two values are equal; functions by their code, objects by their attributes."""
    if type(one) is not type(other):
        return False
    if depth < DEPTH and isinstance(one, FunctionType) and one.__code__.co_names == ("NotImplementedError",):
        return True  # nbgrader's stub of a method
    if isinstance(one, CodeType):
        plain = ("co_code", "co_names", "co_varnames", "co_freevars")
        if any(getattr(one, name) != getattr(other, name) for name in plain):
            return False
        return _same(one.co_consts, other.co_consts, depth)
    if isinstance(one, (list, tuple)):
        return len(one) == len(other) and all(
            _same(mine, theirs, depth) for mine, theirs in zip(one, other, strict=True)
        )
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(_same(one[name], other[name], depth) for name in one)
    try:
        same = bool(one == other)
    except Exception:
        same = False
    return same or (hasattr(one, "__dict__") and (depth == 0 or _same(_parts(one), _parts(other), depth - 1)))


def _parts(value: Any) -> dict[str, Any]:
    """Return the parts of a function, a class or an object."""
    names = ("__code__", "__defaults__", "__kwdefaults__") if isinstance(value, FunctionType) else ()
    own = {name: one for name, one in vars(value).items() if name[0] != "_" or isinstance(one, FunctionType)}
    own |= {name: _read(value, name) for name, one in vars(type(value)).items() if isinstance(one, property)}
    return own | {name: getattr(value, name) for name in names}


def _read(value: Any, name: str) -> Any:
    """Return a property of an object, or None if it raises."""
    try:
        return getattr(value, name)
    except Exception:
        return None


def show(outcome: Outcome) -> None:
    """Print an outcome; on a learner's page its first line has the symbol and the colours of its status."""
    heading, line, text = outcome.text.partition("\n")
    subject, dot, words = heading.partition(" · ")
    verdict = record.marked(record.VERDICTS[outcome.status], words) if dot else ""
    print(f"{subject}{dot}{verdict}{line}{text}")


def display(figure: Any) -> None:
    """Show a figure as a picture in a notebook, as text elsewhere."""
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        shell.display.display(figure)
    else:
        print(figure)


for _verb in (check, hint, solution, progress, _next):
    _verb.keep()  # type: ignore[attr-defined]
