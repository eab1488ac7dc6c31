"""Record whole runs of the kit on a real model: ``python -m planexec_lite.recorded.recording_runs FILE.jsonl``.

The model is served on loopback, and the kit reaches it by its one setting, ``PLANEXEC_LLM``, like any program of a
learner. A recording that was cut off goes on when it is started again.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from datetime import date
from hashlib import sha256
from pathlib import Path

from planexec_lite.model.connect import connect
from planexec_lite.recorded.kit import MAX_TOKENS, WORLDS, agent
from planexec_lite.recorded.recording import MODEL, TEMPERATURE
from planexec_lite.recorded.small_model import fingerprint, missing, model_file, served, tools_template, versions
from planexec_lite.recorded.whole_runs import (
    Listening,
    RecordedRun,
    Setting,
    load_runs,
    pack_runs,
    run_line,
)
from planexec_lite.scoreboard import tasks

CONTEXT = 4096
SEEDS_APART = 1000  # the answers of one run have seeds that follow each other


def record_run(name: str, given: bool, number: int) -> RecordedRun:
    """Carry out one run on the endpoint that ``PLANEXEC_LLM`` names, and return what the model said."""
    task = tasks()[name]
    client = Listening(connect(name), TEMPERATURE, SEEDS_APART * number)
    agent(client, task, task.world().tools, given=given).run(task.goal)
    return RecordedRun(name, given, number, tuple(client.turns))


def record_runs(path: Path, setting: Setting, worlds: Sequence[str], each: int) -> None:
    """Write `each` runs of every task to `path`, with a plan given and with none; what is there already is kept.

    Raises `ValueError` when the file was recorded with another model or other settings.
    """
    there: set[tuple[str, bool, int]] = set()
    if path.exists() and path.stat().st_size:
        read = load_runs(path)
        if replace(read.setting, date=setting.date) != setting:
            raise ValueError(f"{path.name} was recorded otherwise ({read.setting}); write to another file")
        there = {(run.task, run.given, run.number) for run in read.runs}
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")  # a line that was cut off is recorded again
    else:
        path.write_text(run_line(setting), encoding="utf-8")
    with path.open("a", encoding="utf-8") as file:
        for number in range(1, each + 1):
            for name in worlds:
                for given in (False, True):
                    if (name, given, number) not in there:
                        file.write(run_line(record_run(name, given, number)))
                        file.flush()
            print(f"run {number} of {each}", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, or pack a recording; return 0, or 2 where the packages are missing."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lite.recorded.recording_runs", description=__doc__)
    parser.add_argument("file", type=Path, help="the recording, JSON lines; it is continued where it ends")
    parser.add_argument("--each", type=int, default=10, help="runs of each task, with a plan given and without (10)")
    parser.add_argument("--worlds", nargs="+", choices=WORLDS, default=list(WORLDS), help="whose tasks")
    parser.add_argument("--threads", type=int, default=1, help="of the processor (1)")
    parser.add_argument("--pack", type=Path, metavar="FILE.gz", help="record nothing; write the recording gzipped")
    options = parser.parse_args(arguments)
    if options.pack:
        pack_runs(options.file, options.pack)
        return 0
    if absent := missing():
        print(f"not installed: {', '.join(absent)}; pip install --no-deps {' '.join(absent)}", file=sys.stderr)
        return 2
    file, template = model_file(), tools_template()
    shown = sha256(template.encode()).hexdigest()
    about = (MODEL, fingerprint(file), versions(), date.today().isoformat())
    setting = Setting(*about, TEMPERATURE, dict(MAX_TOKENS), CONTEXT, shown)
    with served(file, context=CONTEXT, threads=options.threads, template=template) as url:
        os.environ["PLANEXEC_LLM"] = url
        try:
            record_runs(options.file, setting, options.worlds, options.each)
        finally:
            del os.environ["PLANEXEC_LLM"]
    return 0


if __name__ == "__main__":
    sys.exit(main())
