"""A version of a prompt on a data set, two versions side by side, and the check that is red at a regression.

Thirty rows are few, so a difference comes with its 95 % interval. Where the rows ask different questions, each is a pair: the
interval is the bootstrap of `grade.paired`. Where one question was asked again and again, the answers are draws, and nothing
pairs them: the interval is that of two shares (`recorded.Share`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean

from planexec_lite.grade.paired import FEWEST, paired
from planexec_lite.prompts.answers import Answers
from planexec_lite.prompts.datasets import Row
from planexec_lite.prompts.measures import Measure, measure_of
from planexec_lite.prompts.versions import PromptVersion
from planexec_lite.recorded import RecordedAnswer, Share
from planexec_lite.views.drawing.text_fitting import aligned, clean


class RegressionError(AssertionError):
    """A new version is worse than an old one, and by more than chance explains."""


@dataclass(frozen=True, slots=True)
class Backtest:
    """What a version came to on some rows.

    Args:
        version: of the prompt.
        rows: that were asked.
        answers: one for each row.
        passed: one for each row: what was measured; None: it could not be.
        measure: what it is called.
        source: whose answers they are.
        written: whether somebody wrote them.
    """

    version: PromptVersion
    rows: tuple[Row, ...]
    answers: tuple[RecordedAnswer, ...]
    passed: tuple[bool | None, ...]
    measure: str
    source: str
    written: bool

    @property
    def share(self) -> Share:
        """How many of the measured rows fulfil the measure."""
        measured = [one for one in self.passed if one is not None]
        return Share(sum(measured), len(measured))


def backtest(
    version: PromptVersion, rows: Iterable[Row], answers: Answers, measure: str | Measure = "valid"
) -> Backtest:
    """Measure the answers to a version of a prompt on some rows.

    Args:
        version: of the prompt.
        rows: of a data set.
        answers: where the answers come from: `recorded_answers` or `asked`.
        measure: "valid", "calls right", "ends a step", or a function of an answer and a row that returns True, False, or None
            where it can't say.

    Raises `ValueError` where there is no row, or none that can be measured, and what `answers` raises.
    """
    name, measured = measure_of(measure)
    asked = tuple(rows)
    given = tuple(answers(version.text, row) for row in asked)
    passed = [measured(answer, row) for answer, row in zip(given, asked, strict=True)]
    if all(one is None for one in passed):
        raise ValueError(f"{name!r} was measured on none of the {len(asked)} rows; take other rows, or another measure")
    kept = tuple(None if one is None else bool(one) for one in passed)
    return Backtest(version, asked, given, kept, name, answers.source, answers.written)


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two versions on the same rows: the difference of their shares, new minus old, and its 95 % interval.

    `method` is "paired" or "two shares"; `questions` is how many different ones the rows ask.
    """

    new: Backtest
    old: Backtest
    value: float
    low: float
    high: float
    method: str
    questions: int

    @property
    def told(self) -> bool:
        """Whether a difference can be told: there are rows enough, and zero lies outside of the interval."""
        return self._enough and (self.low > 0 or self.high < 0)

    @property
    def _enough(self) -> bool:
        return min(self.new.share.of, self.old.share.of) >= FEWEST

    @property
    def changed(self) -> list[tuple[Row, RecordedAnswer, RecordedAnswer]]:
        """The rows that one version passes and the other does not, with the old answer and the new one."""
        rows = zip(self.old.rows, self.old.passed, self.new.passed, self.old.answers, self.new.answers, strict=True)
        return [(row, before, now) for row, was, is_, before, now in rows if was is not is_]

    def is_regression(self, tolerance: float = 0.0) -> bool:
        """Whether the whole interval lies below minus `tolerance`; of fewer than six rows, nothing can be told."""
        return self._enough and self.high < -tolerance

    def __str__(self) -> str:
        rows = [["", self.old.measure, ""]]
        for one in (self.old, self.new):
            value, low, high = (f"{100 * end:.0f}" for end in one.share.interval)
            rows.append(
                [clean(str(one.version)), f"{one.share.hits} of {one.share.of}", f"{value} % ({low} to {high})"]
            )
        interval = f"{100 * self.value:+.0f} ({100 * self.low:+.0f} to {100 * self.high:+.0f})"
        rows.append(["difference", interval, self.method if self.told else f"{self.method}: nothing can be told"])
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
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, row in enumerate(new.rows):
        groups.setdefault((row.goal, repr(row.tools), row.events), []).append(place)
    questions = len(groups)
    if questions >= FEWEST:
        both = paired(_means(new, groups.values()), _means(old, groups.values()))
        if both.pairs >= FEWEST:
            return Comparison(new, old, both.mean, both.low, both.high, "paired", questions)
    value, low, high = new.share.minus(old.share)
    return Comparison(new, old, value, low, high, "two shares", questions)


def check(comparison: Comparison, tolerance: float = 0.0) -> Comparison:
    """Return the comparison, where the new version is no regression.

    Args:
        comparison: by `compare`.
        tolerance: how much worse the new version may be, as a share from 0 to 1.

    Raises `RegressionError`, with the numbers, where the whole interval lies below minus `tolerance`; and `ValueError` where it
    never could: a new version that fails every row would pass too. It takes more rows, or another measure.
    """
    if not 0 <= tolerance < 1:
        raise ValueError(f"tolerance={tolerance!r}: give the share by which a version may be worse, such as 0.05")
    failing = replace(comparison.new, passed=tuple(None if one is None else False for one in comparison.new.passed))
    if not compare(failing, comparison.old).is_regression(tolerance):
        share, measure = comparison.old.share, comparison.old.measure
        raise ValueError(
            f"this check could never turn red: the old version has {measure!r} in {share.hits} of {share.of} rows, so a "
            f"new one that has it in none would pass too (tolerance {tolerance:g}); take more rows, or another measure"
        )
    if comparison.is_regression(tolerance):
        raise RegressionError(f"{comparison.new.version} is worse than {comparison.old.version}\n{comparison}")
    return comparison


def _means(one: Backtest, groups: Iterable[Sequence[int]]) -> list[float | None]:
    """The share of each question's answers that pass; None where none was measured."""
    means: list[float | None] = []
    for places in groups:
        measured = [passed for place in places if (passed := one.passed[place]) is not None]
        means.append(fmean(measured) if measured else None)
    return means
