"""A version of a prompt on a data set, two versions side by side, and the check that is red at a regression.

Thirty rows are few, so a difference comes with its 95 % interval. Where the rows ask different questions, each is a pair: the
interval is the bootstrap of `grade.paired`, widened for few pairs. Where one question was asked again and again, the answers are
draws, and nothing pairs them: the interval is that of two shares (`recorded.Share`). So it is where all pairs differ alike, as
where both versions pass every row: drawn again and again they stay the same, and the bootstrap's interval would have no width.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from statistics import NormalDist, fmean

from planexec_lite.grade.paired import FEWEST, paired
from planexec_lite.prompts.answers import Answers
from planexec_lite.prompts.datasets import Row
from planexec_lite.prompts.measures import Measure, measure_of
from planexec_lite.prompts.versions import PromptVersion
from planexec_lite.recorded import RecordedAnswer, Share
from planexec_lite.views.drawing.text_fitting import aligned, clean

FEW = 50  # questions, of which the ends of an interval take more draws


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

    A row counts where it was measured for both: of the others, `new` and `old` have None. `method` is "paired" or "two shares";
    `questions` is how many different ones those rows ask.
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
        return [(row, before, now) for row, was, is_, before, now in rows if bool(was) is not bool(is_)]

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
        if (measured := self.new.share.of) < len(self.new.rows):
            rows.append(["measured", f"{measured} of {len(self.new.rows)} rows", "the others do not count"])
        source = clean(self.new.source) + (" (written, so nothing about a model)" if self.new.written else "")
        return "\n".join([f"answers of {source}", *aligned(rows)])


def compare(new: Backtest, old: Backtest) -> Comparison:
    """Hold a new version against an old one.

    Raises `ValueError` where they were not measured alike: other rows, another measure, or another model; and where no row was
    measured for both.
    """
    for what in ("rows", "measure", "source"):
        if getattr(new, what) != getattr(old, what):
            raise ValueError(
                f"{new.version} and {old.version} were backtested with different {what}; let them be the same"
            )
    measured = [None not in both for both in zip(new.passed, old.passed, strict=True)]
    if not any(measured):
        words = f"no row has {new.measure!r} measured for both {new.version} and {old.version}"
        raise ValueError(f"{words}; take other rows, or another measure")
    new, old = _only(measured, new), _only(measured, old)
    groups: dict[tuple[object, ...], list[int]] = {}
    for place, row in enumerate(new.rows):
        if measured[place]:
            groups.setdefault((row.goal, repr(row.tools), row.events), []).append(place)
    questions = len(groups)
    if questions >= FEWEST:
        how = {"level": _level(questions), "resamples": 10_000 if questions < FEW else 2_000}
        pairs = paired(_means(new, groups.values()), _means(old, groups.values()), **how)  # type: ignore[arg-type]
        if pairs.low < pairs.high:
            return Comparison(new, old, pairs.mean, pairs.low, pairs.high, "paired", questions)
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


def _only(measured: Sequence[bool], one: Backtest) -> Backtest:
    """A backtest of these rows alone; of the others, nothing was measured."""
    kept = tuple(passed if kept else None for passed, kept in zip(one.passed, measured, strict=True))
    return replace(one, passed=kept)


def _level(pairs: int) -> float:
    """The level whose bootstrap interval holds the truth in about 95 of 100 comparisons, of few pairs too.

    The plain one is too narrow there: of six equal pairs it would turn a check red twice as often as it says. This is the expanded
    percentile of Hesterberg, "What teachers should know about the bootstrap" (2015), with a series for Student's t.
    """
    normal, free = NormalDist(), pairs - 1
    z = normal.inv_cdf(0.975)
    t = z + (z**3 + z) / (4 * free) + (5 * z**5 + 16 * z**3 + 3 * z) / (96 * free**2)
    t += (3 * z**7 + 19 * z**5 + 17 * z**3 - 15 * z) / (384 * free**3)
    return 1 - 2 * normal.cdf(-sqrt(pairs / free) * t)


def _means(one: Backtest, groups: Iterable[Sequence[int]]) -> list[float]:
    """The share of each question's answers that pass."""
    return [fmean(bool(one.passed[place]) for place in places) for places in groups]
