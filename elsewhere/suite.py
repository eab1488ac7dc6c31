"""The acceptance suite: the same questions to every program, answered by what can be observed from outside.

    python -m elsewhere [NAME …] [--only CHECK,CHECK]

The suite observes the calls of tools (with their times and processes), the requests to the scripted model, the lines that the
program prints, the world afterwards, and the hosts that the program asked for. If lines of a program are tagged for a check, the
suite runs the check again on a copy without these lines. It writes `results/NAME.json`.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

from elsewhere import model
from planexec_lab.worlds.deploy import World

HERE = Path(__file__).parent
ROOT = HERE.parent
LIMIT = 60  # seconds for each process
FRAMEWORKS = ("kit", "langgraph", "agents_sdk", "pydantic_ai", "llamaindex", "adk")
TAG = re.compile(r"#.*\bours: ([a-z_, ]+)$")
ORDER = [step["tool"] for step in model.RELEASE["steps"]]
AFTER_BUILD = ORDER[3:]

Person = Callable[[int, Any], Any]


def always(answer: Any) -> Person:
    """Return a person who gives the same answer to every question."""
    return lambda number, subject: answer


YES = always({"yes": True, "plan": None, "again": True})
NO = always({"yes": False, "plan": None, "again": False})


def python_of(name: str) -> str:
    """Return the interpreter of a framework's environment; the kit uses its own."""
    return sys.executable if name == "kit" else str(HERE / ".envs" / name / "bin/python")


def tags(line: str) -> set[str]:
    """Return the checks that a line of ours is for."""
    match = TAG.search(line)
    return {tag.strip() for tag in match[1].split(",")} if match else set()


@dataclass
class Program:
    """A program, and the lines that are left out of it ("" for none)."""

    name: str
    file: str = "release.py"
    without: str = ""
    good: "Observed | None" = None

    def source(self, file: Path) -> str:
        """Return the text of a file without the lines that are left out."""
        lines = file.read_text().splitlines(keepends=True)
        keep = file.name == "ours.py" and self.without not in ("valid", "bad_edit")
        return "".join(line for line in lines if keep or not self.without or self.without not in tags(line))

    @staticmethod
    def shared_lines(check: str) -> int:
        """Return the number of lines in `ours.py` that are tagged for a check."""
        return sum(check in tags(line) for line in (HERE / "common/ours.py").read_text().splitlines())

    def lines_of(self, check: str) -> int:
        """Return the number of lines of ours that the program needs for a check."""
        text = (HERE / self.name / self.file).read_text()
        needed = {"once": "begun_before(", "undo": "roll_back(", "valid": "CheckedPlan", "bad_edit": "CheckedPlan"}
        uses = "from ours" in text and needed.get(check, "\0") in text
        return sum(check in tags(line) for line in text.splitlines()) + (self.shared_lines(check) if uses else 0)

    def release(self) -> "Observed":
        """Return the undisturbed release, which many checks look at."""
        if self.good is None:
            self.good = Observed(self).run()
        return self.good


@dataclass
class Observed:
    """The observations of a release, over all processes that worked on it."""

    program: Program
    currency: str | None = "EUR"
    plans: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        shape = model.as_the_kit_asks if self.program.name == "kit" else model.as_asked
        self.world, self.llm = World(self.currency), model.script(shape, **self.plans)
        self.folder = Path(tempfile.mkdtemp(prefix="elsewhere-"))
        weakref.finalize(self, shutil.rmtree, self.folder, ignore_errors=True)
        self.state, self.port = self.folder / "state", 0
        code = self.folder / "code"
        for folder in (self.state, code):
            folder.mkdir()
        for file in (*(HERE / "common").glob("*.py"), HERE / self.program.name / self.program.file):
            (code / file.name).write_text(self.program.source(file))
        self.asked: list[Any] = []
        self.lines: list[tuple[float, str]] = []
        self.codes: list[int] = []
        self.late = False
        self.arguments: list[str] = []

    def run(self, person: Person = YES, *, kill: bool = False, **settings: str) -> "Observed":
        """Run the program in a new process until it ends; with `kill`, until the tool of the setting HOLD is reached."""
        with self.llm.serve(port=self.port) as url:  # the same port again: some frameworks save the address
            self.port = int(url.split(":")[2].split("/")[0])
            self._run(url, person, kill, settings)
        return self

    def _run(self, url: str, person: Person, kill: bool, settings: dict[str, str]) -> None:
        code = self.folder / "code"
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.state),
            "PYTHONPATH": f"{code}:{ROOT}",
            "LANG": "C.UTF-8",
        }
        environment |= {
            "OPENAI_BASE_URL": url,
            "OPENAI_API_BASE": url,
            "OPENAI_API_KEY": "none",
            "STATE": str(self.state),
        }
        environment |= {"PYTHONDONTWRITEBYTECODE": "1", **settings}
        command = [
            python_of(self.program.name),
            str(code / self.program.file),
            str(self.world.folder),
            str(self.state),
            *self.arguments,
        ]
        with (self.state / f"stderr{len(self.codes)}.txt").open("w") as errors:
            process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment,
                cwd=self.state, start_new_session=True,
            )  # fmt: skip
        ended = threading.Event()

        def watch() -> None:
            end = time.time() + LIMIT
            while not ended.wait(0.02):
                self.late = self.late or time.time() > end
                if self.late or (kill and self.events("held") and not self.codes):
                    os.killpg(process.pid, signal.SIGKILL)
                    return

        watcher = threading.Thread(target=watch)
        watcher.start()
        assert process.stdin is not None
        assert process.stdout is not None
        for line in process.stdout:
            self.lines.append((time.time(), line.rstrip("\n")))
            if line.startswith("ASK "):
                subject = json.loads(line[4:])
                answer = person(len(self.asked), subject)
                self.asked.append(subject)
                try:
                    if answer is None:
                        process.stdin.close()
                    else:
                        process.stdin.write(json.dumps(answer) + "\n")
                        process.stdin.flush()
                except (BrokenPipeError, ValueError):  # the process has ended
                    break
        with suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        self.codes.append(process.wait())
        ended.set()
        watcher.join()

    def events(self, kind: str = "", tool: str = "") -> list[dict[str, Any]]:
        """Return the events of the log, by kind and tool."""
        file = self.state / "log.jsonl"
        events = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        return [one for one in events if kind in ("", one["event"]) and tool in ("", one["tool"])]

    @property
    def started(self) -> list[str]:
        """The tools that were called, in order."""
        return [one["tool"] for one in self.events("start")]

    def first(self, kind: str, tool: str) -> float:
        """Return the time of the first such event, infinity without one."""
        return min((float(one["at"]) for one in self.events(kind, tool)), default=float("inf"))

    def starts_before_end_of(self, tool: str, other: str) -> bool:
        """Whether the first call of a tool starts before the first call of another one ends."""
        return self.first("start", tool) < self.first("end", other)

    @property
    def calls(self) -> list[Any]:
        """The model calls that were answered."""
        return [call for call in self.llm.calls if call.error is None]

    @property
    def hosts(self) -> list[str]:
        """The other hosts that the program asked for."""
        file = self.state / "hosts.txt"
        return sorted(set(file.read_text().split())) if file.exists() else []

    @property
    def complete(self) -> bool:
        """Whether v2.3.1 was released, with each step once and one message to the team."""
        return sorted(self.started) == sorted(ORDER) and self.world.messages == ["v2.3.1 deployed"]

    @property
    def refused(self) -> bool:
        """Whether no step ran and the program ended, and not by an error of the program itself."""
        bug = re.search(
            r"(Name|Import|ModuleNotFound|Attribute|Syntax|Indentation|UnboundLocal|Permission)Error", self.last_words()
        )
        return not self.started and not self.late and bug is None

    def bars(self) -> list[tuple[str, float, float]]:
        """Return each call of a tool with its start and end, in seconds of the world since the first start."""
        starts, begun = self.events("start"), float(self.events("start")[0]["at"])
        scale = float(os.environ.get("SCALE", "0.008"))
        bars = []
        for one in starts:
            ends = [
                float(e["at"])
                for e in self.events("", one["tool"])
                if e["event"] in ("end", "error") and e["at"] > one["at"]
            ]
            bars.append(
                (str(one["tool"]), round((one["at"] - begun) / scale, 1), round((min(ends) - begun) / scale, 1))
            )
        return bars

    def last_words(self) -> str:
        """Return the exit code and the last line that the program wrote."""
        text = "\n".join(path.read_text() for path in sorted(self.state.glob("stderr*.txt")))
        words = (
            [line for line in text.splitlines() if line.strip()]
            or [line for _, line in self.lines if line[:3] != "ASK"]
            or [""]
        )
        return f"{'timeout, ' if self.late else ''}exit {self.codes[-1]}: {words[-1][:160]}".replace(
            str(self.folder), ""
        )


@dataclass(frozen=True)
class Verdict:
    """The answer to one question."""

    passed: bool
    seen: str


@dataclass(frozen=True)
class Check:
    """One question. `obedient` is the same question with a model that does what a good model would do by itself."""

    title: str
    decide: Callable[[Program], Verdict]
    obedient: Callable[[Program], Verdict] | None = None


CHECKS: dict[str, Check] = {}


def check(
    title: str, obedient: Callable[[Program], Verdict] | None = None
) -> Callable[[Callable[[Program], Verdict]], Any]:
    """Register a question under its function's name."""

    def register(decide: Callable[[Program], Verdict]) -> Any:
        CHECKS[decide.__name__] = Check(title, decide, obedient)
        return decide

    return register


@check("releases v2.3.1")
def releases(program: Program) -> Verdict:
    run = program.release()
    return Verdict(
        run.complete, f"{len(run.calls)} model calls, {len(run.started)} tool calls, messages {run.world.messages}"
    )


@check("runs independent steps in parallel")
def parallel(program: Program) -> Verdict:
    run = program.release()
    tests, backup = "run_tests", "backup_database"
    overlap = run.starts_before_end_of(backup, tests) and run.starts_before_end_of(tests, backup)
    return Verdict(overlap, f"tests and backup {'overlap' if overlap else 'run one after the other'}")


@check("starts a step when its own dependencies are done (no barrier)")
def no_barrier(program: Program) -> Verdict:
    run = program.release()
    build, backup = "build_docker", "backup_database"
    early = run.starts_before_end_of(build, backup) and run.first("start", backup) < run.first("start", build)
    return Verdict(early, f"the build starts {'while the backup runs' if early else 'when the backup has ended'}")


@check("skips what depends on a failed step, and nothing else")
def skip(program: Program) -> Verdict:
    def wrong_tag(number: int, plan: Any) -> Any:
        if number:
            return NO(number, plan)
        for step in plan["steps"]:
            if step["tool"] == "build_docker":
                step["params"][0]["value"] = "v9.9"
        return {"yes": True, "plan": plan}

    run = Observed(program, plans={"then": model.GIVE_UP}).run(wrong_tag)
    later = [tool for tool in run.started if tool in AFTER_BUILD]
    passed = (
        bool(run.events("error", "build_docker"))
        and not later
        and bool(run.events("end", "backup_database"))
        and not run.late
    )
    backup = "ended" if run.events("end", "backup_database") else "is missing"
    return Verdict(passed, f"the build failed; started after it: {later}; the backup {backup}")


@check("stops a planner that repeats the same failing plan")
def bounded(program: Program) -> Verdict:
    run = Observed(program, None, {"then": model.TRY_AGAIN}).run()
    passed = not run.late and bool(run.events("error", "run_smoke_tests"))
    tests, end = len(run.events("start", "run_smoke_tests")), run.last_words() if run.late else "it ended"
    return Verdict(passed, f"{len(run.calls)} model calls, {tests} smoke tests, {end}")


@check("runs nothing unapproved, not even after a replan")
def approval(program: Program) -> Verdict:
    rejected = Observed(program).run(NO)
    second = Observed(program, None, {"then": model.TRY_AGAIN}).run(
        lambda number, plan: (NO if number else YES)(number, plan)
    )
    unapproved = second.events("start", "run_smoke_tests")[2:]
    passed = bool(rejected.asked) and not rejected.started and len(second.asked) > 1 and not unapproved
    words = f"questions about two plans: {len(second.asked)}; steps of the rejected second plan: {len(unapproved)}"
    return Verdict(passed, f"started after a no: {rejected.started}; {words}")


@check("runs the plan that the person edited")
def edited(program: Program) -> Verdict:
    def edit(number: int, plan: Any) -> Any:
        plan["steps"] = [step for step in plan["steps"] if step["tool"] != "backup_database"]
        for step in plan["steps"]:
            step["depends_on"] = [id for id in step["depends_on"] if id != "3"]
            if step["tool"] == "notify_team":
                step["params"][0]["value"] = "Ann released v2.3.1"
        return {"yes": True, "plan": plan}

    run = Observed(program).run(edit)
    passed = run.world.messages == ["Ann released v2.3.1"] and "backup_database" not in run.started
    return Verdict(
        passed,
        f"messages {run.world.messages}; the backup {'ran' if 'backup_database' in run.started else 'did not run'}",
    )


@check("refuses an edited plan with a cycle")
def bad_edit(program: Program) -> Verdict:
    def edit(number: int, plan: Any) -> Any:
        if number:
            return NO(number, plan)
        plan["steps"][0]["depends_on"] = ["8"]
        return {"yes": True, "plan": plan}

    run = Observed(program, plans={"then": model.GIVE_UP}).run(edit)
    return Verdict(bool(run.asked) and run.refused, f"started: {run.started}; {run.last_words()}")


@check("waits for the person without a process")
def waits(program: Program) -> Verdict:
    run = Observed(program).run(always(None))
    before = len(run.started)
    run.run()
    same = len({json.dumps(plan) for plan in run.asked}) == 1
    passed = before == 0 and run.complete and same and len(run.calls) == len(program.release().calls)
    end = "released" if passed else run.last_words()
    return Verdict(passed, f"asked {len(run.asked)} times in two processes, {len(run.calls)} model calls; {end}")


@check("after kill -9, repeats nothing that was done")
def resume(program: Program) -> Verdict:
    run = Observed(program).run(kill=True, HOLD="deploy_staging:before")
    done, asked = [one["tool"] for one in run.events("end")], len(run.asked)
    run.run()
    again = [tool for tool in done if run.started.count(tool) > 1]
    released = set(run.started) == set(ORDER) and run.world.messages == ["v2.3.1 deployed"]
    passed = released and not again and len(run.asked) == asked and len(run.calls) == len(program.release().calls)
    end = "released" if released else run.last_words()
    return Verdict(passed, f"done before: {len(done)}; again: {again}; asked again: {len(run.asked) - asked}; {end}")


@check("after kill -9 inside a step that must run at most once, asks a person")
def once(program: Program) -> Verdict:
    run = Observed(program).run(kill=True, HOLD="notify_team:after")
    asked = len(run.asked)
    run.run(lambda number, subject: (YES if "steps" in subject else NO)(number, subject))
    passed = len(run.world.messages) == 1 and len(run.asked) > asked
    return Verdict(
        passed, f"the team got {len(run.world.messages)} messages; questions after the crash: {len(run.asked) - asked}"
    )


@check("keeps a budget of model calls for the whole run")
def budget(program: Program) -> Verdict:
    allowed = len(program.release().calls)
    run = Observed(program, None).run(BUDGET=str(allowed))
    passed = len(run.calls) <= allowed and not run.late and bool(run.events("error", "run_smoke_tests"))
    return Verdict(passed, f"{len(run.calls)} model calls, {allowed} allowed")


@check("reports the tokens that it used")
def usage(program: Program) -> Verdict:
    run = program.release()
    sent = sum(call.input_tokens for call in run.calls), sum(call.output_tokens for call in run.calls)
    words = [line.split()[1:] for _, line in run.lines if line.startswith("USAGE")]
    return Verdict(
        [tuple(map(int, one)) for one in words] == [sent], f"reported {words}, the model counted {list(sent)}"
    )


@check("writes spans of the model call and of every step")
def trace(program: Program) -> Verdict:
    run, spans, decoder = program.release(), [], json.JSONDecoder()
    file = run.state / "trace.json"
    text = file.read_text().strip() if file.exists() else ""
    while text:
        span, end = decoder.raw_decode(text)
        spans, text = [*spans, *(span if isinstance(span, list) else [span])], text[end:].strip()
    times = [
        [
            _seconds(span.get(one) or span.get(other))
            for one, other in (("start_time", "started_at"), ("end_time", "ended_at"))
        ]
        for span in spans
    ]
    found = 0
    for one in run.events("start"):
        end = min(float(e["at"]) for e in run.events("end", one["tool"]) if e["at"] > one["at"])
        found += any(abs(a - one["at"]) < 0.3 and abs(b - end) < 0.3 for a, b in times)
    asked = any(re.search("chat|llm|generation|response|openai", json.dumps(span).lower()) for span in spans)
    return Verdict(
        found == len(ORDER) and asked,
        f"{len(spans)} spans; {found} of {len(ORDER)} steps; the model call {'has one' if asked else 'has none'}",
    )


def _seconds(value: Any) -> float:
    """Return the seconds of a span's time: ISO, or nanoseconds."""
    if isinstance(value, str) and not value.isdigit():
        return datetime.fromisoformat(value.replace("Z", "+00:00")).timestamp()
    return float(value or 0) / (1e9 if float(value or 0) > 1e12 else 1)


@check("reports progress while it runs")
def progress(program: Program) -> Verdict:
    run = program.release()
    told = [
        at for at, line in run.lines if not line.startswith("ASK") and re.search(r"run_tests|step[ _]?1\b|^1\b", line)
    ]
    early = run.first("start", "notify_team") - min(told, default=float("inf"))
    return Verdict(
        early > 0.3, f"the first step is reported {early:.1f} s before the last one starts" if told else "no report"
    )


def _obedient_undo(program: Program) -> Verdict:
    return _undo(program, model.ROLL_BACK)


def _undo(program: Program, then: dict[str, Any]) -> Verdict:
    run = Observed(program, None, {"then": then}).run()
    passed = run.world.deployed("production") == "v2.3.0" and bool(run.events("start", "deploy_production"))
    return Verdict(
        passed, f"production runs {run.world.deployed('production')}; calls after the failure: {run.started[7:]}"
    )


@check("rolls a failed release back", _obedient_undo)
def undo(program: Program) -> Verdict:
    return _undo(program, model.GIVE_UP)


@check("runs no step of a plan with a cycle or an unknown tool")
def valid(program: Program) -> Verdict:
    runs = [
        Observed(program, plans={"first": bad, "then": model.GIVE_UP}).run()
        for bad in (model.CYCLE, model.UNKNOWN_TOOL)
    ]
    passed = all(run.calls and run.refused for run in runs)
    return Verdict(passed, "; ".join(f"started: {run.started}, {run.last_words()}" for run in runs))


@check("returns an invalid plan to the model, with the reason")
def repair(program: Program) -> Verdict:
    run = Observed(program, plans={"first": model.CYCLE, "fixed": model.RELEASE, "then": model.GIVE_UP}).run()
    return Verdict(run.complete, f"{len(run.calls)} model calls; {'released' if run.complete else run.last_words()}")


@check("refuses a person's answer of the wrong shape")
def answer_schema(program: Program) -> Verdict:
    run = Observed(program).run(lambda number, subject: NO(0, 0) if number else {"yes": "perhaps", "plan": None})
    return Verdict(bool(run.asked) and run.refused, f"started: {run.started[:2]}; {run.last_words()}")


@check("asks no host but the model's")
def quiet(program: Program) -> Verdict:
    run = program.release()
    return Verdict(run.complete and not run.hosts, f"other hosts: {run.hosts}")


def cell(verdict: Verdict, lines: int, without: Verdict | None, obedient: Verdict | None) -> str:
    """Return the table's cell.

    Args:
        verdict: of the program.
        lines: the number of lines of ours.
        without: of the program without these lines; None without such lines.
        obedient: of the program without these lines, with a model that does the right thing by itself.
    """
    if not verdict.passed:
        return "only if the model obeys" if obedient and obedient.passed else "no"
    if lines == 0 or (without and without.passed):
        return "by itself"
    words = "1 line" if lines == 1 else f"{lines} lines"
    return f"only if the model obeys; {words}" if obedient and obedient.passed else words


def decide(program: Program, name: str) -> dict[str, Any]:
    """Answer one question about one program."""
    question, lines = CHECKS[name], program.lines_of(name)
    verdict = attempt(question.decide, program)
    bare = Program(program.name, program.file, name) if lines else program
    without = attempt(question.decide, bare) if lines and verdict.passed else None
    obedient = attempt(question.obedient, bare) if question.obedient and not (without or verdict).passed else None
    answer: dict[str, Any] = {"cell": cell(verdict, lines, without, obedient), "seen": verdict.seen}
    if without and not without.passed:
        answer |= {"lines": lines, "without": without.seen}
    return answer | ({"obedient": obedient.seen} if obedient else {})


def attempt(question: Callable[[Program], Verdict], program: Program) -> Verdict:
    """Answer a question; an error counts as a no."""
    try:
        return question(program)
    except Exception as error:
        return Verdict(False, f"{type(error).__name__}: {error}"[:200])


def code_lines(name: str) -> int:
    """Return the number of lines of a program without blanks, comments and docstrings."""
    text = re.sub(r'""".*?"""', "", (HERE / name / "release.py").read_text(), flags=re.DOTALL)
    return sum(bool(line.strip()) and not line.strip().startswith("#") for line in text.splitlines())
