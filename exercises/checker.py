"""check(), hint(), solution(), progress(): the verbs of the exercises. None of them raises in the notebook.

An answer is not started, raised an error, is wrong, or is right. The picture of the learner's own plan or run comes
before the verdict. Idea: Kaggle's learntools (four outcomes), the GPU puzzles (draw, then judge).
"""

from __future__ import annotations

import functools
import linecache
import sys
import textwrap
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from exercises import book, record
from exercises.exercise import Exercise, Raised, Trial, Unknown, Wrong, copied, find, without_addresses
from exercises.guard import Ended, Kept, TimeUp, guarded
from planexec_lite.workers.session import described

DRAWING = 30.0  # seconds for a picture: the first one loads matplotlib
COLUMNS = 92  # that a line of a verdict takes, as in the lessons
DEPTH = 6  # how deep two values are compared
_HINTED: dict[str, int] = {}


@dataclass(frozen=True)
class Outcome:
    """What a check found: "not started", "raised", "wrong" or "right"; the words for it, and the pictures."""

    status: str
    text: str
    figures: tuple[Any, ...] = ()


def _steady(verb: Callable[..., None]) -> Callable[..., None]:
    """The verb, which first puts the checker back into its state and never raises."""
    kept: list[Kept] = []

    @functools.wraps(verb)
    def steady(*arguments: Any) -> None:
        if kept:
            kept[0].restore()
        try:
            verb(*arguments, sys._getframe(1).f_globals)
        except Unknown as problem:
            print(problem)
        except Exception as problem:
            print(f"The checker itself failed, which is not your fault: {type(problem).__name__}: {problem}")

    steady.keep = lambda: kept.append(Kept(("exercises",)))  # type: ignore[attr-defined]
    return steady


@_steady
def check(id: str, namespace: dict[str, Any]) -> None:
    """Judge your answer to an exercise, `check("01.2")`: a picture of what it does, then the verdict."""
    outcome = judged(id, namespace)
    record.remember(id, outcome.status)
    for figure in outcome.figures:
        display(figure)
    print(outcome.text)


@_steady
def hint(id: str, namespace: dict[str, Any]) -> None:
    """Say where to look, `hint("01.2")`; asked again, say more."""
    hints = find(id).hints
    number = min(_HINTED.get(id, 0) + 1, len(hints))
    _HINTED[id] = number
    print(f"{id} · Hint {number} of {len(hints)}\n{_wrapped(hints[number - 1])}")


@_steady
def solution(id: str, namespace: dict[str, Any]) -> None:
    """Show one right answer, `solution("01.2")`. Others may be as good: `check` accepts them."""
    source = book.answer(find(id).id)
    print(f"{id} · One solution\n" + textwrap.indent(book.solved(source or "# it is not here"), "  "))


@_steady
def progress(*lesson_and_namespace: Any) -> None:
    """Show the board of one lesson, `progress("01")`, or of all, `progress()`."""
    display(record.board(*lesson_and_namespace[:-1]))


def judged(
    id: str,
    namespace: dict[str, Any],
    seconds: float | None = None,
    draw: bool = True,
    patience: float | None = None,
) -> Outcome:
    """Judge the answer in a namespace. Raises `Unknown`.

    `seconds` of CPU time replace the exercise's own limit, and `patience` how long an answer may wait, in seconds.
    """
    one, trial = find(id), Trial(draw)
    missing = [name for name in one.names if name not in namespace]
    if missing:
        return _told(one, "not started", f"`{missing[0]}` is not there yet. Run the cell above, then this one.")
    answers = [copied(namespace[name]) for name in one.names]
    given = guarded(lambda: _as_given(one, namespace), one.seconds, ())
    if given.value:
        names = " and ".join(f"`{name}`" for name in one.names)
        is_or_are = "are" if len(one.names) > 1 else "is"
        return _told(one, "not started", f"{names} {is_or_are} still as given. Change the cell above and run it.")
    ended = guarded(lambda: one.judge(trial, *answers), seconds or one.seconds, patience=patience)
    return _outcome(one, trial, ended, namespace)


def _outcome(one: Exercise, trial: Trial, ended: Ended, namespace: dict[str, Any]) -> Outcome:
    """Put how the trial ended into words."""
    problem = ended.error
    error = problem.error if isinstance(problem, Raised) else problem
    drawn = [guarded(draw, DRAWING, ()).value for draw in trial.figures]
    figures = tuple(figure for figure in drawn if figure is not None)  # what can't be drawn is left out
    if ended.changed:
        rule = f"An answer changes nothing of the checker or the kit: {', '.join(ended.changed[:3])}. It is put back."
        return _told(one, "wrong", _table(trial, trial.came, one.wanted, rule, ended.printed), figures)
    if error is None:
        return _told(one, "right", one.learned, figures)
    if isinstance(error, NotImplementedError):
        return _told(one, "not started", "A line `raise NotImplementedError` still stands in your answer.")
    if isinstance(error, Wrong):
        return _told(one, "wrong", _table(trial, trial.came, error.wanted, error.rule, ended.printed), figures)
    where = _where(error, namespace)
    if isinstance(error, TimeUp):
        came = f"nothing: it was stopped {error}{where}"
        return _told(one, "raised", _table(trial, came, one.wanted, "Every loop ends.", ended.printed), figures)
    message = described(error) + where
    if isinstance(problem, Raised) or where:
        return _told(one, "raised", _table(trial, message, one.wanted, "", ended.printed), figures)
    rule = f"What comes back has another shape than is wanted ({message})."
    return _told(one, "wrong", _table(trial, trial.came, one.wanted, rule, ended.printed), figures)


def _table(trial: Trial, came: str, wanted: str, rule: str, printed: str) -> str:
    """What was called, what came back, what was wanted, which rule it breaks."""
    rows = {trial.head: trial.called, "came back": came, "wanted": wanted, "rule": rule, "printed": printed}
    return "\n".join(_wrapped(without_addresses(text), f"{name:<11}") for name, text in rows.items() if text)


def _wrapped(text: str, head: str = "") -> str:
    lines = [line for part in text.splitlines() for line in textwrap.wrap(part, COLUMNS - 2 - len(head)) or [""]]
    return "\n".join(f"  {head if not number else ' ' * len(head)}{line}" for number, line in enumerate(lines))


def _told(one: Exercise, status: str, text: str, figures: tuple[Any, ...] = ()) -> Outcome:
    """The outcome with its heading; a text that is no table yet is wrapped."""
    heading = {"raised": "Raised an error"}.get(status, status.capitalize())
    body = text if text.startswith("  ") else _wrapped(text)
    return Outcome(status, f"{one.id} · {heading}\n{body}", figures)


def _where(error: BaseException, namespace: dict[str, Any]) -> str:
    """The learner's line that raised, as a clause; empty when none of the learner's lines was under way."""
    place, step = "", error.__traceback__
    while step is not None:
        if step.tb_frame.f_globals is namespace:
            number = step.tb_lineno or step.tb_frame.f_code.co_firstlineno  # an alarm may hit between two lines
            line = linecache.getline(step.tb_frame.f_code.co_filename, number).strip()
            place = f", in line {number} of {step.tb_frame.f_code.co_name}" + (f": {line}" if line else "")
        step = step.tb_next
    return place


def _as_given(one: Exercise, namespace: dict[str, Any]) -> bool:
    """Whether every name of the exercise still is what the student notebook gives."""
    answers = [namespace[name] for name in one.names]
    if all(answer is None or answer is ... for answer in answers):
        return True
    given, source = dict(namespace), book.answer(one.id)
    if source is None:
        return False
    exec(compile(book.stub(source), "<as given>", "exec"), given)
    return all(_same(answer, given.get(name)) for answer, name in zip(answers, one.names, strict=True))


def _same(one: Any, other: Any, depth: int = DEPTH) -> bool:
    """Whether two values say the same; functions do when their code does, objects when their attributes do."""
    if type(one) is not type(other):
        return False
    if depth < DEPTH and isinstance(one, FunctionType) and one.__code__.co_names == ("NotImplementedError",):
        return True  # the stub of a method that nbgrader writes
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
    """What a function, a class or an object consists of."""
    names = ("__code__", "__defaults__", "__kwdefaults__") if isinstance(value, FunctionType) else ()
    own = {name: one for name, one in vars(value).items() if name[0] != "_" or isinstance(one, FunctionType)}
    own |= {name: _read(value, name) for name, one in vars(type(value)).items() if isinstance(one, property)}
    return own | {name: getattr(value, name) for name in names}


def _read(value: Any, name: str) -> Any:
    """A property of an object that a learner may have written; one that raises is like one that is not there."""
    try:
        return getattr(value, name)
    except Exception:
        return None


def display(figure: Any) -> None:
    """Show a figure as a picture in a notebook, as text elsewhere."""
    shell = sys.modules.get("IPython")
    if shell is not None and shell.get_ipython() is not None:
        shell.display.display(figure)
    else:
        print(figure)


for _verb in (check, hint, solution, progress):
    _verb.keep()  # type: ignore[attr-defined]
