"""A script plays only if the process that started the kernel reports an unattended run; in real kernels."""

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from planexec_lab.views.review_desk import presence
from tests.guards import books
from tests.network_cut import ipc_kernels  # noqa: F401  (importing it is enough)

PROGRAM: dict[str, Any] = {"msg_type": "execute_request", "content": {"allow_stdin": False}, "metadata": {}}
FIRST = "from planexec_lab import views\nfrom tests.views.desks import PLAN, TOOLS"
SCRIPTED = [
    'desk = views.desk(PLAN, TOOLS, script=[("1: days", "30"), "Approve"])\ndesk',
    "print(desk.decision.verdict, desk.decision.by, desk.decision.plan.steps[0])",
]


@pytest.mark.parametrize(
    ("request_", "views", "sign", "nobody"),
    [
        (PROGRAM, 0, True, True),
        (PROGRAM, None, True, True),
        (PROGRAM, 0, False, False),
        (PROGRAM, 1, True, False),
        (PROGRAM | {"content": {"allow_stdin": True}}, 0, True, False),
        (PROGRAM | {"content": {}}, 0, True, False),
        (PROGRAM | {"metadata": {"cellId": "a"}}, 0, True, False),
        ({"msg_type": "comm_msg"}, 0, True, False),
        ({}, 0, True, False),
        (None, 0, True, False),
    ],
)
def test_nobody_is_there_only_if_it_is_said_and_nothing_speaks_against_it(
    monkeypatch: pytest.MonkeyPatch, request_: Any, views: int | None, sign: bool, nobody: bool
) -> None:
    monkeypatch.setattr(presence, "request", lambda: request_)
    monkeypatch.setattr(presence, "said_so", lambda: sign)
    assert presence.nobody(views) is nobody


TEST = "lesson.ipynb::Cell 0 (setup)"


@pytest.mark.parametrize(
    ("variables", "parents", "spoken"),
    [
        ({}, {}, False),
        ({"PLANEXEC_NOBODY": "1"}, {"A": "b"}, False),
        ({"PLANEXEC_NOBODY": "parent"}, {}, True),
        ({"PYTEST_CURRENT_TEST": TEST}, {"A": "b"}, True),
        ({"PYTEST_CURRENT_TEST": TEST}, {"PYTEST_CURRENT_TEST": "tests/test_a.py::test_b (call)"}, True),
        ({"PYTEST_CURRENT_TEST": TEST}, {"PYTEST_CURRENT_TEST": TEST}, False),
        ({"PYTEST_CURRENT_TEST": TEST}, {}, False),
        ({"PYTEST_CURRENT_TEST": "tests/test_a.py::test_b (call)"}, {"A": "b"}, False),
    ],
)
def test_a_sign_counts_only_from_the_process_that_started_the_kernel(
    monkeypatch: pytest.MonkeyPatch, variables: dict[str, str], parents: dict[str, str], spoken: bool
) -> None:
    for name in ("PLANEXEC_NOBODY", "PYTEST_CURRENT_TEST"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, str(os.getppid()) if value == "parent" else value)
    monkeypatch.setattr(presence, "_environment", lambda process: parents)
    assert presence.said_so() is spoken


SPLIT = ['desk = views.desk(PLAN, TOOLS, script=["Approve"])\ndesk', "desk.decision"]
EXECUTE = "import ipc_kernels, nbclient.cli; nbclient.cli.main()"  # it stands in the folder that cuts the network


SIGNED = ("sh", "-c", 'PLANEXEC_NOBODY=$$ exec "$@"', "sh")


def execute(path: Path, *before: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """Run a notebook in place as `jupyter execute` does, with variables and a prefix of the command."""
    command = [*before, sys.executable, "-c", EXECUTE, "--inplace", str(path)]
    env = books.environment(path.parent) | {"PYTHONPATH": f"{books.ROOT}:{books.NETWORK_CUT}"} | variables
    return subprocess.run(command, env=env, capture_output=True, text=True, timeout=600, check=False)


@pytest.mark.notebooks
@pytest.mark.slow
@pytest.mark.wide  # which runs nbval
@pytest.mark.skipif(os.name == "nt", reason="the sign is given in a shell of Linux and macOS")
def test_strict_nbval_passes_twice_and_a_signed_program_ends(tmp_path: Path) -> None:
    alone = books.code("views.desk(PLAN, TOOLS).decision", tags=["raises-exception"])
    path = books.write(tmp_path / "00_review.ipynb", *map(books.code, (FIRST, *SCRIPTED)), alone)
    done = execute(path, *SIGNED)
    assert done.returncode == 0, done.stderr
    tool = books.notebook_tool()
    path.write_text(tool.normal_form(path.read_text(encoding="utf-8"), path.stem), encoding="utf-8")
    cells = nbformat.read(path, as_version=4).cells
    assert cells[1].outputs[0].data["text/plain"].startswith("To review: 3 steps to “Go to Lima”")
    assert cells[2].outputs[0].text == "approve script look_up(city='Lima', days=30)\n"
    assert cells[3].outputs[-1].ename == "NobodyThere"
    for place in books.PLACES:
        checked = books.nbval(path, scratch=tmp_path, **place | {"PYTHONPATH": f"{books.ROOT}:{books.NETWORK_CUT}"})
        assert checked.returncode == 0, checked.stdout


@pytest.mark.notebooks
@pytest.mark.slow
def test_a_program_without_a_sign_of_its_own_counts_as_a_person(tmp_path: Path) -> None:
    cells = map(books.code, (FIRST, *SPLIT, "print('it', 'ran')"))
    done = execute(
        books.write(tmp_path / "00_review.ipynb", *cells), PLANEXEC_NOBODY=str(os.getpid()), PYTEST_CURRENT_TEST=TEST
    )
    assert done.returncode != 0
    assert "waits for you: there is no decision yet" in done.stderr
    assert "PLANEXEC_NOBODY" in done.stderr
    assert "it ran" not in done.stdout


@pytest.mark.slow
def test_ipython_in_a_terminal_counts_as_a_person(tmp_path: Path) -> None:
    code = f"{FIRST}\ndecision = views.desk(PLAN, TOOLS, script=['Approve']).decision\nprint(decision.by)"
    done = books.run("-m", "IPython", "--no-banner", "-c", code, scratch=tmp_path)
    assert "script" not in done.stdout.splitlines()
    assert "there is no notebook here" in done.stdout


@contextmanager
def kernel(tmp_path: Path) -> Iterator[Any]:
    """The client of a kernel that shows an undecided desk."""
    manager, client = start_new_kernel(env=books.environment(tmp_path) | {"PYTHONPATH": str(books.ROOT)})
    try:
        for cell in (FIRST, SPLIT[0]):
            assert client.execute_interactive(cell, timeout=60, output_hook=len)["content"]["status"] == "ok"
        yield client
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)


@pytest.mark.notebooks
def test_cells_that_arrive_late_behind_an_undecided_desk_do_not_run(tmp_path: Path) -> None:
    with kernel(tmp_path) as client:
        asked = client.execute(SPLIT[1])
        while client.get_iopub_msg(timeout=60)["msg_type"] != "execute_input":  # the error comes a second later
            pass
        late = client.execute("1 / 0")
        replies = [client.get_shell_msg(timeout=60) for _ in range(2)]
        said = {one["parent_header"]["msg_id"]: one["content"] for one in replies}
        assert said[asked]["ename"] == "NotDecided"
        assert said[late]["status"] == "aborted"


THREADS = """import threading
ran, edited = [], type(desk)._refresh
type(desk)._refresh = lambda self: (ran.append(threading.current_thread().name), edited(self))"""


@pytest.mark.notebooks
def test_what_is_typed_is_handled_on_the_thread_of_the_cells_at_once(tmp_path: Path) -> None:
    with kernel(tmp_path) as client:

        def run(code: str) -> str:
            sent: list[Any] = []
            client.execute_interactive(code, timeout=60, output_hook=sent.append)
            return "".join(message["content"].get("text", "") for message in sent).strip()

        def typed(text: str) -> str:
            state = {"method": "update", "state": {"value": text}, "buffer_paths": []}
            message = client.session.msg("comm_msg", {"comm_id": comment, "data": state})
            message["header"]["subshell_id"] = subshell
            client.shell_channel.send(message)
            return str(message["header"]["msg_id"])

        comment = run(f"{THREADS}\nprint(desk.controls['Comment'].model_id)")
        client.control_channel.send(client.session.msg("create_subshell_request"))
        subshell = client.get_control_msg(timeout=60)["content"]["subshell_id"]
        for text in ("a", "ab", "abc"):
            typed(text)
            run("pass")
        assert run("print(ran)") == str(["MainThread"] * 3)

        client.execute("import asyncio\nawait asyncio.sleep(2)")
        sent, idle = typed("abcd"), ""
        while idle != sent:  # the page sends nothing more before it has heard that the kernel is idle
            heard = client.get_iopub_msg(timeout=20)
            idle = heard["parent_header"]["msg_id"] if heard["content"].get("execution_state") == "idle" else ""
