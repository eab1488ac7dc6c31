"""A prompt version on a data set, two versions compared, and the check that fails at a regression.

Thirty rows are few, so a difference has its 95 % interval: that of two shares (`recorded.Share`). If each row has a different
question, the rows are pairs, and an interval of pairs would be narrower (`grade.paired`); this interval is valid for both.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from planexec_lab.grade.paired import FEWEST
from planexec_lab.prompts.answers import Answers
from planexec_lab.prompts.datasets import Row
from planexec_lab.prompts.versions import PromptVersion
from planexec_lab.recorded import RecordedAnswer, Share
from planexec_lab.views.drawing.text_fitting import aligned, clean
from planexec_lite.plan import Plan, PlanError, StepReader
from planexec_lite.tools import suggest


def _valid(answer: RecordedAnswer, row: Row) -> bool:
    if answer.finish_reason == "length":
        return False
    try:
        plan = Plan.parse(answer.text)
    except PlanError:
        return False
    return not plan.problems(row.toolbox, done=row.board.results.keys())


def _ends_a_step(answer: RecordedAnswer, row: Row) -> bool:
    return bool(StepReader().feed(answer.text))


MEASURES: dict[str, Callable[[RecordedAnswer, Row], bool]] = {"valid": _valid, "ends a step": _ends_a_step}
"""By name: the answer is a valid plan; its first step was finished before it was."""


class RegressionError(AssertionError):
    """A new version is worse than an old one, and by more than chance explains."""


@dataclass(frozen=True, slots=True)
class Backtest:
    """The result of a version on some rows.

    Args:
        version: the prompt version.
        rows: the rows.
        answers: one for each row.
        passed: the measurement of each row.
        measure: the name of the measure.
        source: the source of the answers.
        written: whether the answers are scripted.
    """

    version: PromptVersion
    rows: tuple[Row, ...]
    answers: tuple[RecordedAnswer, ...]
    passed: tuple[bool, ...]
    measure: str
    source: str
    written: bool

    @property
    def share(self) -> Share:
        """How many of the rows fulfil the measure."""
        return Share(sum(self.passed), len(self.passed))


def backtest(version: PromptVersion, rows: Iterable[Row], answers: Answers, measure: str = "valid") -> Backtest:
    """Measure the answers to a version of a prompt on some rows.

    Args:
        version: of the prompt.
        rows: of a data set.
        answers: where the answers come from: `recorded_answers` or `asked`.
        measure: one of `MEASURES`.

    Raises `ValueError` where there is no row, for an unknown measure, and what `answers` raises.
    """
    if measure not in MEASURES:
        near = suggest(measure, MEASURES)
        raise ValueError(f"there is no measure {measure!r}{near}; there are: {', '.join(MEASURES)}")
    asked = tuple(rows)
    if not asked:
        raise ValueError("there is no row to measure; take the rows of a data set, or of a recording")
    given = tuple(answers.answer(version.text, row) for row in asked)
    passed = tuple(MEASURES[measure](answer, row) for answer, row in zip(given, asked, strict=True))
    return Backtest(version, asked, given, passed, measure, answers.source, answers.written)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions on the same rows: the difference of their shares, new minus old, and its 95 % interval."""

    new: Backtest
    old: Backtest
    value: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether a difference can be told: there are rows enough, and zero lies outside of the interval."""
        return len(self.new.rows) >= FEWEST and (self.low > 0 or self.high < 0)

    def is_regression(self, tolerance: float = 0.0) -> bool:
        """Whether the whole interval is below minus `tolerance`; fewer than six rows show nothing."""
        return len(self.new.rows) >= FEWEST and self.high < -tolerance

    def __str__(self) -> str:
        rows = [["", self.old.measure, ""]]
        for one in (self.old, self.new):
            value, low, high = (f"{100 * end:.0f}" for end in one.share.interval)
            rows.append(
                [clean(str(one.version)), f"{one.share.hits} of {one.share.of}", f"{value} % ({low} to {high})"]
            )
        interval = f"{100 * self.value:+.0f} ({100 * self.low:+.0f} to {100 * self.high:+.0f})"
        rows.append(["difference", interval, "95 % interval" if self.told else "95 % interval: not significant"])
        source = clean(self.new.source) + (" (written, so nothing about a model)" if self.new.written else "")
        return "\n".join([f"answers of {source}", *aligned(rows)])


def compare(new: Backtest, old: Backtest) -> Comparison:
    """Hold a new version against an old one.

    Raises `ValueError` where they were not measured alike: other rows, another measure, or another model.
    """
    for what in ("rows", "measure", "source"):
        if getattr(new, what) != getattr(old, what):
            raise ValueError(
                f"{new.version} and {old.version} were backtested with different {what}; let them be the same"
            )
    return Comparison(new, old, *new.share.minus(old.share))


def check(comparison: Comparison, tolerance: float = 0.0) -> Comparison:
    """Return the comparison if the new version is no regression.

    Args:
        comparison: by `compare`.
        tolerance: the accepted loss, as a share from 0 to 1.

    Raises `RegressionError` with the numbers if the whole interval is below minus `tolerance`, and `ValueError` if even a
    version that fails every row would pass: then use more rows or another measure.
    """
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance={tolerance!r}: give the share by which a version can be worse, such as 0.05")
    failing = replace(comparison.new, passed=(False,) * len(comparison.new.rows))
    if not compare(failing, comparison.old).is_regression(tolerance):
        share, measure = comparison.old.share, comparison.old.measure
        raise ValueError(
            f"this check could never turn red: the old version has {measure!r} in {share.hits} of {share.of} rows, so a "
            f"new one that has it in none would pass too (tolerance {tolerance:g}); take more rows, or another measure"
        )
    if comparison.is_regression(tolerance):
        raise RegressionError(f"{comparison.new.version} is worse than {comparison.old.version}\n{comparison}")
    return comparison
