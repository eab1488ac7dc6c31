"""A real PostgreSQL: a cluster of its own in a temporary folder, on a Unix socket, which no network sees."""

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

PLACES = [Path(found).parent for name in ("pg_ctl", "initdb") if (found := shutil.which(name))]
PLACES += sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: path.parent.name, reverse=True)


def programs() -> Path | None:
    """The folder with PostgreSQL's programs, None where it is not installed."""
    places = (place.resolve() for place in PLACES)
    return next((place for place in places if (place / "pg_ctl").exists() and (place / "initdb").exists()), None)


@contextmanager
def cluster() -> Iterator[dict[str, str]]:
    """Start a server, and yield the variables by which its clients find it. Skips, with words, where there is none."""
    place = programs()
    if place is None or shutil.which("psql") is None or shutil.which("pg_dump") is None:
        pytest.skip("PostgreSQL is not installed here: apt-get install postgresql, or brew install postgresql")
    user = None if os.getuid() else "postgres"  # a server refuses to run as root
    if user and user not in {entry.pw_name for entry in pwd.getpwall()}:
        pytest.skip("PostgreSQL refuses to run as root, and there is no user postgres")
    folder = Path(tempfile.mkdtemp(prefix="pg-"))  # a short path: the name of a socket has 107 characters at most
    options: Any = {"cwd": folder, "env": {"PATH": os.environ["PATH"], "LC_ALL": "C"}, "check": True}
    options |= {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, "stdin": subprocess.DEVNULL}
    if user is not None:
        shutil.chown(folder, user)
        options |= {"user": user, "group": pwd.getpwnam(user).pw_gid, "extra_groups": []}
    data = folder / "data"
    try:
        new = [place / "initdb", "-D", data, "-U", "shop", "--auth=trust", "--no-sync", "-E", "UTF8", "--no-locale"]
        subprocess.run(new, **options)
        settings = f"-c listen_addresses='' -c unix_socket_directories='{folder}' -c fsync=off"
        control = [place / "pg_ctl", "-D", data, "-w"]
        subprocess.run([*control, "-l", folder / "log", "-o", settings, "start"], **options)
        try:
            yield {"PGHOST": str(folder), "PGUSER": "shop"}
        finally:
            subprocess.run([*control, "-m", "immediate", "stop"], **options)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
