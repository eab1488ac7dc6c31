"""The world of the deploy plan: a folder with real files, and the tools that change it."""

import hashlib
import json
import shutil
import sqlite3
from contextlib import closing
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any, ClassVar, Literal

from planexec_lab.worlds.deploy import shop
from planexec_lab.worlds.folder import FolderWorld, Tools

Environment = Literal["staging", "production"]


class World(FolderWorld):
    """A shop at v2.3.0 whose v2.3.1 is ready to be released, in a temporary folder that goes away with the object.

    Args:
        currency: the setting that v2.3.1 needs, as production has it; None leaves it out.
    """

    TOOLS: ClassVar[Tools] = {
        "run_tests": (60, "none"),
        "build_docker": (90, "idempotent"),
        "backup_database": (120, "idempotent"),
        "deploy_staging": (30, "idempotent"),
        "run_smoke_tests": (20, "none"),
        "deploy_production": (45, "idempotent"),
        "notify_team": (1, "once"),
        "rollback_staging": (10, "idempotent"),
        "rollback_production": (15, "idempotent"),
        "remove_image": (2, "idempotent"),
        "restore_database": (60, "idempotent"),
    }
    DESTRUCTIVE = (
        "deploy_staging",
        "deploy_production",
        "rollback_staging",
        "rollback_production",
        "remove_image",
        "restore_database",
    )

    def __init__(self, currency: str | None = "EUR") -> None:
        super().__init__()
        with as_file(files(__package__) / "releases") as releases:
            shutil.copytree(releases / "v2.3.1", self.folder / "source", ignore=shutil.ignore_patterns("__pycache__"))
            shutil.copytree(releases / "v2.3.0", self.image("v2.3.0"), ignore=shutil.ignore_patterns("__pycache__"))
        for env in ("staging", "production"):
            settings = {"currency": "EUR"} if env == "staging" else {"currency": currency} if currency else {}
            self.environment(env).mkdir(parents=True)
            (self.environment(env) / "settings.json").write_text(json.dumps(settings))
            (self.environment(env) / "releases.json").write_text(json.dumps(["v2.3.0"]))
        with closing(sqlite3.connect(self.database)) as db, db:
            db.execute("CREATE TABLE orders (number INTEGER PRIMARY KEY, price INTEGER NOT NULL)")
            db.executemany("INSERT INTO orders VALUES (?, ?)", [(1, 20), (2, 35), (3, 5)])

    @property
    def database(self) -> Path:
        """The production database, a SQLite file."""
        return self.folder / "production.sqlite"

    def image(self, tag: str) -> Path:
        """The folder of an image in the registry."""
        return self.folder / "registry" / tag

    def environment(self, env: str) -> Path:
        """The folder of an environment: its settings and its releases, the running one last."""
        return self.folder / "environments" / env

    def deployed(self, env: Environment) -> str:
        """The tag that runs in an environment."""
        return str(self._releases(env)[-1])

    def run_tests(self) -> dict[str, Any]:
        """Run the full test suite of the source."""
        passed, failed = shop.test(self.folder / "source")
        if failed:
            raise RuntimeError(f"{len(failed)} of {len(passed) + len(failed)} tests failed: {', '.join(failed)}")
        return {"passed": len(passed)}

    def build_docker(self, tag: str) -> dict[str, Any]:
        """Build the image of the source and put it into the registry.

        Args:
            tag: the version, such as v2.3.1
        """
        source = self.folder / "source"
        version = shop.version(source)
        if version != tag:
            raise ValueError(f"the source is at {version}, so it can't be tagged {tag}")
        shutil.copytree(source, self.image(tag), dirs_exist_ok=True)
        digest = hashlib.sha256((source / "app.py").read_bytes()).hexdigest()
        return {"image": f"shop:{tag}", "digest": digest[:12]}

    def backup_database(self) -> dict[str, Any]:
        """Back up the production database."""
        name = self._files.next("backup", ".sqlite")
        return {"file": name, "rows": _copied(self.database, self.folder / name)}

    def deploy_staging(self, tag: str) -> dict[str, Any]:
        """Deploy an image to staging.

        Args:
            tag: an image in the registry
        """
        return self._deploy("staging", tag)

    def deploy_production(self, tag: str) -> dict[str, Any]:
        """Deploy an image to production.

        Args:
            tag: an image in the registry
        """
        return self._deploy("production", tag)

    def run_smoke_tests(self, env: Environment) -> dict[str, Any]:
        """Call every endpoint of what is deployed in an environment.

        Args:
            env: where
        """
        settings = json.loads((self.environment(env) / "settings.json").read_text())
        with closing(sqlite3.connect(self.database)) as db:
            orders = db.execute("SELECT number, price FROM orders").fetchall()
        answers = shop.answers(self.image(self.deployed(env)), settings, orders)
        broken = [f"{path} {answer}" for path, answer in answers.items() if not answer.startswith("200 ")]
        if broken:
            raise RuntimeError(f"{len(broken)} of {len(answers)} endpoints fail on {env}: {'; '.join(broken)}")
        return {"env": env, "version": self.deployed(env), "passed": len(answers)}

    def rollback_staging(self) -> dict[str, Any]:
        """Deploy the previous release to staging again."""
        return self._roll_back("staging", "previous")

    def rollback_production(self, to: str = "previous") -> dict[str, Any]:
        """Deploy an earlier release to production again.

        Args:
            to: a tag, or previous
        """
        return self._roll_back("production", to)

    def remove_image(self, tag: str) -> dict[str, Any]:
        """Remove an image that runs nowhere from the registry.

        Args:
            tag: an image in the registry
        """
        self._known(tag)
        if tag in (self.deployed("staging"), self.deployed("production")):
            raise ValueError(f"{tag} is deployed; roll back first")
        shutil.rmtree(self.image(tag))
        return {"removed": tag}

    def restore_database(self, file: str) -> dict[str, Any]:
        """Put a backup back into production.

        Args:
            file: the name that backup_database returned
        """
        path = self._files.known(file, "backup", "backup_database")
        return {"restored": file, "rows": _copied(path, self.database)}

    def _releases(self, env: str) -> list[str]:
        releases: list[str] = json.loads((self.environment(env) / "releases.json").read_text())
        return releases

    def _known(self, tag: str) -> None:
        known = sorted(path.name for path in (self.folder / "registry").iterdir())
        if tag not in known:
            raise ValueError(f"there is no image {tag!r} in the registry; there are: {', '.join(known)}")

    def _deploy(self, env: Environment, tag: str) -> dict[str, Any]:
        self._known(tag)
        releases = self._releases(env)
        previous = releases[-1]
        if tag != previous:
            (self.environment(env) / "releases.json").write_text(json.dumps([*releases, tag]))
        return {"env": env, "version": tag, "previous": previous}

    def _roll_back(self, env: Environment, to: str) -> dict[str, Any]:
        releases = self._releases(env)
        earlier = releases[:-1]
        tag = earlier[-1] if to == "previous" and earlier else to
        if tag not in earlier:
            raise ValueError(f"{env} can't go back to {to}; it ran: {', '.join(releases)}")
        kept = releases[: releases.index(tag) + 1]
        (self.environment(env) / "releases.json").write_text(json.dumps(kept))
        return {"env": env, "version": tag, "previous": releases[-1]}


def _copied(database: Path, to: Path) -> int:
    """Copy a database, and return how many orders the copy has."""
    with closing(sqlite3.connect(database)) as source, closing(sqlite3.connect(to)) as copy:
        source.backup(copy)
        (rows,) = copy.execute("SELECT count(*) FROM orders").fetchone()
    return int(rows)
