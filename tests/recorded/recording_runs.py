"""Records whole runs of the kit on a real model: ``python -m tests.recorded.recording_runs FILE.jsonl``.

The model is served on loopback and plays every role. An interrupted recording continues when it is started again.
"""

import argparse
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any

from planexec_lab.recorded.roles import MAX_TOKENS, WORLDS, agent
from planexec_lab.recorded.whole_runs import RecordedRun, Setting
from planexec_lab.scoreboard import tasks
from tests.recorded.recording import MODEL, TEMPERATURE, Listening, continued
from tests.recorded.small_model import TOOLS_TEMPLATE, fingerprint, model_file, served, versions

CONTEXT, EACH = 4096, 6
SEEDS_APART = 1000  # the answers of one run have seeds that follow each other


def record_run(client: Any, name: str, given: bool, number: int) -> RecordedRun:
    task, asked = tasks()[name], Listening(client, TEMPERATURE, SEEDS_APART * number)
    agent(asked, task, task.world().tools, given=given).run(task.goal)
    return RecordedRun(name, given, number, tuple(asked.answers))


def record_runs(client: Any, path: Path, setting: Setting, worlds: tuple[str, ...] = WORLDS, each: int = EACH) -> None:
    """Write `each` runs of every task to `path`, with a plan given and with none; what is there already is kept."""
    with continued(path, [setting]) as (there, write):
        known = {(one["run"]["task"], one["run"]["given"], one["run"]["number"]) for one in there if "run" in one}
        wanted = [(name, given, number) for name in worlds for given in (False, True) for number in range(1, each + 1)]
        for one in wanted:
            if one not in known:
                write(record_run(client, *one))


def setting(file: Path) -> Setting:
    about = (MODEL, fingerprint(file), versions(), date.today().isoformat())
    return Setting(*about, TEMPERATURE, dict(MAX_TOKENS), CONTEXT, sha256(TOOLS_TEMPLATE.encode()).hexdigest())


def main() -> None:
    from openai import OpenAI

    parser = argparse.ArgumentParser(prog="python -m tests.recorded.recording_runs", description=__doc__)
    parser.add_argument("file", type=Path, help="JSON lines; the recording is continued where it ends")
    path, file = parser.parse_args().file, model_file()
    with served(file, context=CONTEXT, template=TOOLS_TEMPLATE) as url:
        client = OpenAI(base_url=url, api_key="none", max_retries=0, timeout=3600)
        record_runs(client, path, setting(file))


if __name__ == "__main__":
    main()
