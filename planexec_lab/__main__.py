"""The command line: ``python -m planexec_lab runs FILE`` lists the runs in a journal, shows one, or tells it news;
``python -m planexec_lab try-model`` asks your own model for plans."""

import argparse
import sys
from collections.abc import Sequence
from io import TextIOWrapper
from pathlib import Path

from mock_llm import command
from planexec_lab import your_model
from planexec_lab.views.drawing.text_fitting import aligned, clean
from planexec_lab.views.narration import trace
from planexec_lite.storage.journal import Journal, JournalError


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        arguments: the arguments after ``python -m planexec_lab``; by default those of this process.

    Returns:
        The exit status: 0 on success, 1 if the endpoint gives no plan, 2 for wrong use: a wrong setting, a journal that can't
        be read, or a run that is missing or ambiguous.
    """
    parser = argparse.ArgumentParser(prog="python -m planexec_lab", description="Plan, execute, look at runs.")
    commands = parser.add_subparsers(dest="command", required=True)
    runs = commands.add_parser("runs", help="list the runs in a journal; show one, or tell it news")
    runs.add_argument("file", type=Path, help="the journal")
    runs.add_argument("run", nargs="?", help="the run to show, event by event; by default all runs are listed")
    runs.add_argument(
        "--tell", metavar="NEWS", help="tell the run something: it plans the rest again, now or when it is resumed"
    )
    your_model.add_arguments(
        commands.add_parser("try-model", help="ask your own model (PLANEXEC_LLM) for plans of the worlds' goals")
    )
    options = parser.parse_args(arguments)
    if options.command == "try-model":
        return your_model.main(options)
    if options.tell is not None and options.run is None:
        parser.error('--tell needs a run: runs FILE RUN --tell "words"')
    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # the terminal might not show every character
    journal = Journal(options.file)
    try:
        if options.run is None:
            _list(journal)
        elif options.tell is not None:
            journal.tell(options.run, options.tell)
            print(f"run {options.run} is told")
        else:
            print(trace(journal.load(options.run)))
            for news in journal.inbox(options.run):
                print(f"told, and not recorded: {clean(news)}")
    except (JournalError, OSError, ValueError) as problem:
        print(f"{problem}", file=sys.stderr)
        return 2
    return 0


def _list(journal: Journal) -> None:
    rows = [[one.id, clean(one.status), str(one.events), clean(one.goal)] for one in journal.list()]
    print("\n".join(aligned([["run", "status", "events", "goal"], *rows])))


if __name__ == "__main__":
    command.run(main)
