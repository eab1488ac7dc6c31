"""A real JupyterHub, set up as exercises/teachers/hub.md says: its commands, its configuration and its link are read there.

What the page leaves to a teacher (who may log in, where homes are, which port) is added here, for this machine alone.
"""

import os
import shlex
import shutil
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest

from tests.browser.lab import LEFT_OUT, SETTINGS, free_port, settings_into
from tests.environments import make_environment
from tests.guards.books import ROOT
from tests.guards.readme_rules import BLOCK

PAGE = (ROOT / "exercises" / "teachers" / "hub.md").read_text(encoding="utf-8")
NAME = "kit"  # of the repository that learners get their copy from
ADDED = """
c.JupyterHub.bind_url = "http://127.0.0.1:{port}"
c.JupyterHub.hub_port = {hub_port}
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:{proxy_port}"
c.JupyterHub.authenticator_class = "dummy"
c.JupyterHub.spawner_class = "simple"
c.Authenticator.allowed_users = {learners!r}
c.SimpleLocalProcessSpawner.home_dir_template = "{homes}/{{username}}"
c.Spawner.environment["JUPYTERLAB_SETTINGS_DIR"] = "{settings}"
c.Spawner.args += {root!r}

def served_apart(spawner):
    if spawner.user.name == "{apart}":
        spawner.cmd = ["{server}/bin/jupyterhub-singleuser"]

c.Spawner.pre_spawn_hook = served_apart
"""
APART = "late"  # the learner whose server runs in an environment of its own, without the kit
WIDGETS = "jupyterlab_widgets"


def block(kind: str, having: str) -> str:
    """The one block of the page that is of this kind and has these words."""
    (found,) = [text for of, text in BLOCK.findall(PAGE) if of == kind and having in text]
    return str(found)


@dataclass(frozen=True)
class Places:
    """The folders of this machine for the page's /srv and /home."""

    shared: Path
    environment: Path
    server: Path
    homes: Path

    def here(self, text: str) -> str:
        """A text of the page with the places of this machine."""
        named = {
            "/srv/planexec": self.shared,
            "/srv/hub": self.environment,
            "/srv/server": self.server,
            "/home": self.homes,
        }
        for place, folder in named.items():
            text = text.replace(place, str(folder))
        return text


@dataclass(frozen=True)
class Hub:
    """A running hub: its address, its processes, and the places of this machine."""

    url: str
    process: psutil.Process
    places: Places

    def link(self) -> str:
        """The page's link for learners, with this hub and this machine's repository."""
        link = block("text", "git-pull").strip()
        link = link.replace("https://HUB", self.url).replace("NAME", NAME)
        return link.replace("https%3A%2F%2Fgithub.com%2FREPO", quote(str(repository(self.places)), safe=""))

    def copy_of(self, learner: str) -> Path:
        return self.places.homes / learner / NAME

    def servers(self) -> dict[str, psutil.Process]:
        below = [one for one in self.process.children() if "jupyterhub-singleuser" in " ".join(one.cmdline())]
        return {one.environ()["JUPYTERHUB_USER"]: one for one in below}

    def kernels(self, learner: str) -> list[psutil.Process]:
        below = self.servers()[learner].children(recursive=True)
        return [one for one in below if "ipykernel_launcher" in " ".join(one.cmdline())]


def repository(places: Places) -> Path:
    return places.shared.parent / "upstream" / NAME


def run(*command: str | Path, cwd: Path, seconds: float = 600) -> None:
    done = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True, check=False, timeout=seconds)
    assert done.returncode == 0, f"{command}: {done.stdout[-1500:]}{done.stderr[-1500:]}"


def commit(folder: Path, subject: str) -> None:
    """Commit everything in a folder, which becomes a repository with the branch `main` if it is none."""
    run("git", "init", "-q", "-b", "main", cwd=folder)
    run("git", "add", "-A", cwd=folder)
    run("git", "-c", "user.name=t", "-c", "user.email=t@localhost", "commit", "-q", "-m", subject, cwd=folder)


def set_up(scratch: Path) -> Places:
    """Do what the page's commands do, with a copy of this checkout in the place of a clone from elsewhere."""
    places = Places(scratch / "shared", scratch / "environment", scratch / "server", scratch / "homes")
    places.homes.mkdir()
    for folder in (places.shared, repository(places)):
        shutil.copytree(ROOT, folder, ignore=LEFT_OUT)
    commit(repository(places), "the kit")
    commands = [shlex.split(places.here(line)) for line in block("sh", "git clone").splitlines()]
    clone, make, into, install, proxy, *rest = commands
    assert [clone[1], make[1:3], into[0], install[1:4]] == ["clone", ["-m", "venv"], "cd", ["-m", "pip", "install"]]
    make_environment(Path(make[3]), *install[4:], cwd=Path(into[1]))
    assert proxy[0] == "npm"
    if not shutil.which("npm"):
        pytest.skip("no npm on this machine: the hub's proxy can't be had")
    try:
        run(*proxy, cwd=scratch)
    except (AssertionError, subprocess.TimeoutExpired) as problem:
        pytest.skip(f"the hub's proxy can't be had: {str(problem)[-300:]}")
    for command in rest:
        run(*command, cwd=scratch)
    return places


def set_up_server(places: Places) -> list[str]:
    """Make the page's environment of a server without the kit, all but `WIDGETS`; return the command that adds it."""
    make, install, kernel = [shlex.split(places.here(line)) for line in block("sh", "/srv/server").splitlines()]
    assert WIDGETS in install
    packages = [package for package in install[4:] if package != WIDGETS]
    make_environment(Path(make[3]), *packages, cwd=places.shared)
    run(*kernel, cwd=places.shared)
    return install


@contextmanager
def opened(places: Places, *learners: str) -> Iterator[Hub]:
    """A hub for these learners; with it end the servers and kernels that it started."""
    scratch = places.homes.parent
    port = free_port()
    settings_into(scratch / "settings", SETTINGS)
    root = ["--allow-root"] if hasattr(os, "getuid") and os.getuid() == 0 else []
    ports = {name: free_port() for name in ("hub_port", "proxy_port")}
    here = {"homes": places.homes, "settings": scratch / "settings", "server": places.server}
    added = ADDED.format(port=port, learners=set(learners), root=root, apart=APART, **ports, **here)
    config = scratch / "jupyterhub_config.py"
    config.write_text(places.here(block("python", "c.Spawner")) + added, encoding="utf-8")
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PLANEXEC_", "JUPYTER"))}
    env["PATH"] = f"{places.environment / 'bin'}{os.pathsep}{env['PATH']}"
    log = scratch / "hub.log"
    command = [places.environment / "bin" / "jupyterhub", "-f", config]
    with log.open("wb") as written:
        output: Any = {"stdin": subprocess.DEVNULL, "stdout": written, "stderr": subprocess.STDOUT}
        server = subprocess.Popen(command, cwd=scratch, env=env, start_new_session=True, **output)
        process = psutil.Process(server.pid)
        try:
            url = f"http://127.0.0.1:{port}"
            if not answers(f"{url}/hub/health", server):
                pytest.fail(f"the hub does not answer:\n{log.read_text(encoding='utf-8')[-3000:]}")
            yield Hub(url, process, places)
        finally:
            started = process.children(recursive=True)
            server.terminate()
            with suppress(subprocess.TimeoutExpired):
                server.wait(60)
            for left in [process, *psutil.wait_procs(started, timeout=10)[1]]:
                with suppress(psutil.NoSuchProcess):
                    left.kill()
            server.wait(30)


def answers(address: str, server: subprocess.Popen[bytes]) -> bool:
    """Whether the address answers, before the process ends by itself or two minutes are over."""
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    for _ in range(240):
        try:
            direct.open(address, timeout=5).close()
        except OSError:
            with suppress(subprocess.TimeoutExpired):
                server.wait(0.5)
                return False
        else:
            return True
    return False
