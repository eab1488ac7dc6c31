"""``python -m planexec_lite.prompts list|show|diff|save|release|history|log|rows|check FILE …``: prompts as versions, offline."""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path
from typing import Any

from planexec_lite import recorded
from planexec_lite.grade.dataset import tools_in
from planexec_lite.journal import Journal, JournalError
from planexec_lite.planning import INSTRUCTIONS
from planexec_lite.prompts.answers import Answers, asked, recorded_answers
from planexec_lite.prompts.comparison import RegressionError, backtest, check, compare
from planexec_lite.prompts.datasets import Row, rows_from_runs, rows_from_transcript
from planexec_lite.prompts.file import RegistryError
from planexec_lite.prompts.measures import MEASURES
from planexec_lite.prompts.registry import PLANNER, Registry
from planexec_lite.prompts.request_log import log_table
from planexec_lite.tools import ToolError
from planexec_lite.views.drawing.text_fitting import aligned, clean
from planexec_lite.views.drawing.visible import code, hidden

BAD = (RegistryError, JournalError, ToolError, ValueError, LookupError, OSError, UnicodeError)
RECORDINGS = {"smollm2": recorded.smollm2, "family": recorded.family}


def main(arguments: Sequence[str] | None = None) -> int:
    """Read the command line and do it; return 0, 1 for a regression and nothing else, or 2 for what can't be done."""
    given = _parser().parse_args(arguments)
    if isinstance(sys.stdout, TextIOWrapper):  # people see what their terminal can show
        sys.stdout.reconfigure(errors="replace")
    try:
        given.do(Registry(given.file), given)
    except RegressionError as regression:
        print(regression)
        return 1
    except BAD as problem:
        print(clean(str(problem.args[0] if isinstance(problem, KeyError) else problem)), file=sys.stderr)
        return 2
    except Exception as problem:
        openai = sys.modules.get("openai")  # loaded where a model was asked
        if openai is not None and isinstance(problem, openai.OpenAIError):
            print(f"the model did not answer: {problem}", file=sys.stderr)
        else:
            traceback.print_exc()
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m planexec_lite.prompts", description=__doc__)
    commands = parser.add_subparsers(required=True)

    def command(name: str, do: Any, words: str, *names: str) -> argparse.ArgumentParser:
        one = commands.add_parser(name, help=words, description=words)
        one.add_argument("file", type=Path, metavar="FILE", help="the registry, such as prompts.db")
        for each in names:
            optional = each.startswith("[")
            one.add_argument(each.strip("[]").lower(), metavar=each.strip("[]"), nargs="?" if optional else None)
        one.set_defaults(do=do)
        return one

    command("list", _list, "the prompts, with their versions and labels")
    command("show", _show, "the text of a version, by number or label (default: the newest)", "NAME", "[VERSION]")
    command("diff", _diff, "what is different in version NEW", "NAME", "OLD", "NEW")
    saving = command("save", _save, "save a text as a version; an equal text is the same version", "NAME")
    own = "a file, or - for stdin; without one, the kit's own text, for the prompt planner"
    saving.add_argument("text", metavar="TEXTFILE", nargs="?", help=own)
    moving = command("release", _release, "let a label point to a version", "NAME", "VERSION", "LABEL")
    for one in (saving, moving):
        one.add_argument("--note", default="", help="why")
    command("history", _history, "where the labels of a prompt have pointed", "NAME", "[LABEL]")
    logging = command("log", _log, "what was asked, added up by version; with --last, request by request")
    logging.add_argument("--prompt", metavar="NAME", help="of this prompt alone")
    logging.add_argument("--version", type=int, help="of this version alone")
    logging.add_argument("--last", type=int, metavar="N", help="the last N requests")
    rows = command("rows", _rows, "the data sets, or the rows of one; with --from, rows are added", "[DATASET]")
    rows.add_argument("--from", dest="source", metavar="JOURNAL", help="a journal, whose runs become rows")
    rows.add_argument(
        "--tools", metavar="WORLD", help="the tools of these runs: a world, or a file of a published list"
    )
    rows.add_argument("--tag", action="append", default=[], help="for each row added; may be given several times")
    checking = command("check", _check, "exit with 1 where version NEW is worse than OLD", "NAME", "NEW", "OLD")
    sources = f"{', '.join(RECORDINGS)}, a transcript (.jsonl, .gz), or a data set of the registry with --script"
    checking.add_argument("--on", required=True, metavar="ANSWERS", help=sources)
    checking.add_argument("--script", type=Path, metavar="FILE.yaml", help="the scripted model that is asked")
    checking.add_argument("--measure", default="valid", help=f"{', '.join(MEASURES)} (default: valid)")
    checking.add_argument("--tolerance", type=float, default=0.0, help="how much worse it may be, from 0 to 1 (0)")
    return parser


def _which(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _say(text: str) -> None:
    """Print a text of somebody's, line by line, so that none of it is taken for a command by the terminal."""
    for line in text.split("\n"):
        print("".join(code(char) if char != "\t" and hidden(line, at) else char for at, char in enumerate(line)))


def _list(registry: Registry, given: Any) -> None:
    rows = [["prompt", "version", "saved", "characters", "labels", "note"]]
    for name in registry.names():
        labels = registry.labels(name)
        for one in registry.versions(name):
            here = ", ".join(label for label, number in labels.items() if number == one.number)
            cells = (name, str(one.number), one.saved, f"{len(one.text):,}", here, one.note)
            rows.append([clean(cell) for cell in cells])
    print("\n".join(aligned(rows)) if len(rows) > 1 else "no prompt is saved yet")


def _show(registry: Registry, given: Any) -> None:
    _say(registry.get(given.name, None if given.version is None else _which(given.version)).text)


def _diff(registry: Registry, given: Any) -> None:
    _say(registry.diff(given.name, _which(given.old), _which(given.new)) or "no difference")


def _save(registry: Registry, given: Any) -> None:
    if given.text is None and given.name != PLANNER:
        raise ValueError(f"name the file that holds the text of {given.name!r}, or - for stdin")
    if given.text is None:
        text = INSTRUCTIONS
    else:
        text = sys.stdin.read() if given.text == "-" else Path(given.text).read_text("utf-8-sig")
        text = text.removesuffix("\n")  # an editor's, and none of the prompt's
    _say(str(registry.save(given.name, text, given.note)))


def _release(registry: Registry, given: Any) -> None:
    one = registry.release(given.name, _which(given.version), given.label, given.note)
    _say(f"{one.label} is {one.name} {one.number}")


def _history(registry: Registry, given: Any) -> None:
    rows = [
        [one.at, one.label, f"{one.name} {one.number}", one.note] for one in registry.history(given.name, given.label)
    ]
    never = "no label was set" if given.label is None else f"the label {given.label!r} was never set"
    print("\n".join(aligned([[clean(cell) for cell in row] for row in rows])) or never)


def _log(registry: Registry, given: Any) -> None:
    requests = registry.log(given.prompt, given.version, given.last)
    for one in requests if given.last is not None else ():
        prompt = "no prompt named" if one.prompt is None else f"{one.prompt} {one.version}"
        dollars = "" if one.cost is None else f", {one.cost:.4f} dollars"
        used = f"{one.input_tokens:,} tokens in, {one.output_tokens:,} out{dollars}, {one.seconds:.2f} s"
        print(clean(f"{one.id} {one.at} {prompt}, {one.model}, {one.status}: {used}"))
        _say("\n".join(f"    {line}" for line in (one.error or one.answer).split("\n")))
    print(log_table(requests) if requests else "nothing was asked")


def _rows(registry: Registry, given: Any) -> None:
    if given.source is not None:
        if given.dataset is None or given.tools is None:
            raise ValueError("--from needs the name of a DATASET, and --tools WORLD: a run does not hold the tools")
        journal = Path(given.source)
        new = registry.add_rows(given.dataset, rows_from_runs(Journal(journal), tools_in(given.tools), given.tag))
        print(f"{new} new rows")
    elif given.dataset is None:
        for name, count in registry.datasets().items():
            _say(f"{name}: {count} rows")
    else:
        for row in registry.rows(given.dataset):
            fields = {"id": row.id, "goal": row.goal, "tags": row.tags, "score": row.score, "answer": row.answer}
            print(json.dumps(fields))


def _check(registry: Registry, given: Any) -> None:
    new, old = (registry.get(given.name, _which(one)) for one in (given.new, given.old))
    rows, answers = _asked(registry, given)
    both = [backtest(version, rows, answers, given.measure) for version in (new, old)]
    print(check(compare(*both), given.tolerance))


def _asked(registry: Registry, given: Any) -> tuple[list[Row], Answers]:
    """What is asked, and who answers."""
    if given.script is not None:
        from mock_llm import MockLLM

        if not given.script.is_file():
            raise FileNotFoundError(f"there is no script {given.script}")
        return registry.rows(given.on), asked(MockLLM.load(given.script).client())
    if given.on in RECORDINGS:
        transcript = RECORDINGS[given.on]()
    elif Path(given.on).is_file():
        transcript = recorded.load(given.on)
    else:
        raise ValueError(
            f"{given.on!r} is neither {' nor '.join(RECORDINGS)} nor a transcript; for a data set, add --script FILE.yaml"
        )
    return rows_from_transcript(transcript, next(iter(transcript.variants))), recorded_answers(transcript)


if __name__ == "__main__":
    sys.exit(main())
