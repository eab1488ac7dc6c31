"""``python -m planexec_lab.prompts check FILE NAME NEW OLD --on ANSWERS``: exit status 1 if the new version is a regression."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from planexec_lab import recorded
from planexec_lab.prompts.answers import recorded_answers
from planexec_lab.prompts.comparison import MEASURES, RegressionError, backtest, check, compare
from planexec_lab.prompts.datasets import rows_from_transcript
from planexec_lab.prompts.file import RegistryError
from planexec_lab.prompts.registry import Registry
from planexec_lab.views.drawing.text_fitting import clean

RECORDINGS = {"smollm2": recorded.smollm2, "family": recorded.family}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and check; return 0, 1 for a regression and nothing else, or 2 for what can't be checked."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lab.prompts", description=__doc__)
    parser.add_argument("command", choices=["check"])
    parser.add_argument("file", type=Path, metavar="FILE", help="the registry, such as prompts.db")
    parser.add_argument("name", metavar="NAME", help="of the prompt")
    parser.add_argument("new", metavar="NEW", type=_which, help="the version to test, by number or label")
    parser.add_argument("old", metavar="OLD", type=_which, help="the version that it is held against")
    sources = f"recorded ones: {', '.join(RECORDINGS)}, or a transcript (.jsonl, .gz)"
    parser.add_argument("--on", required=True, metavar="ANSWERS", help=sources)
    parser.add_argument("--measure", default="valid", help=f"{', '.join(MEASURES)} (default: valid)")
    parser.add_argument("--tolerance", type=float, default=0.0, help="how much worse it can be, from 0 to 1 (0)")
    given = parser.parse_args(arguments)
    try:
        registry = Registry(given.file)
        transcript = RECORDINGS[given.on]() if given.on in RECORDINGS else recorded.load(given.on)
        rows, answers = rows_from_transcript(transcript), recorded_answers(transcript)
        versions = [registry.get(given.name, which) for which in (given.new, given.old)]
        print(check(compare(*(backtest(one, rows, answers, given.measure) for one in versions)), given.tolerance))
    except RegressionError as regression:
        print(regression)
        return 1
    except (RegistryError, ValueError, LookupError, OSError) as problem:
        print(clean(str(problem)), file=sys.stderr)
        return 2
    return 0


def _which(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


if __name__ == "__main__":
    sys.exit(main())
