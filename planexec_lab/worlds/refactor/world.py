"""The world of the refactoring: a folder with a real package, and the tools that read, change and test it."""

import json
import shutil
from importlib.resources import as_file, files
from typing import Any, ClassVar, Literal

from planexec_lab.worlds.folder import FolderWorld, Tools
from planexec_lab.worlds.refactor import source, suite
from planexec_lab.worlds.refactor.project import Project

Claim = Literal["sub", "iss", "iat", "exp"]

_AUTH, _ENDPOINTS, _TOKENS, _SCHEMA = "shop/auth.py", "shop/endpoints.py", "shop/tokens.py", "shop/token.json"
_TEST_AUTH, _TEST_ENDPOINTS = "tests/test_auth.py", "tests/test_endpoints.py"


class World(FolderWorld):
    """A shop whose users have sessions, in a temporary folder that goes away with the object."""

    TOOLS: ClassVar[Tools] = {
        "code_search": (1, "none"),
        "read_file": (0.5, "none"),
        "write_file": (1, "idempotent"),
        "replace_in_file": (1, "once"),
        "analyze_auth": (4, "none"),
        "list_endpoints": (2, "none"),
        "design_token_schema": (6, "idempotent"),
        "implement_jwt": (30, "idempotent"),
        "update_endpoints": (20, "idempotent"),
        "update_tests": (15, "idempotent"),
        "fix_token_header": (5, "idempotent"),
        "run_test_suite": (8, "none"),
        "restore": (1, "once"),
    }
    NOT_DONE = (ValueError,)
    DESTRUCTIVE = (
        "write_file",
        "replace_in_file",
        "implement_jwt",
        "update_endpoints",
        "update_tests",
        "fix_token_header",
        "restore",
    )

    def __init__(self) -> None:
        super().__init__()
        with as_file(files(__package__) / "releases") as releases:
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(releases / "sessions", self.folder / "project", ignore=ignore)

    @property
    def project(self) -> Project:
        """The files of the shop."""
        return Project(self.folder / "project", self.folder / "versions")

    def code_search(self, text: str) -> list[str]:
        """Find a text in all files, in capitals or not: a match is file:line: what stands there.

        Args:
            text: what to look for, such as session
        """
        if not text.strip():
            raise ValueError("an empty text is found everywhere; name what to look for, such as session")
        return [
            f"{name}:{number}: {line.strip()}"
            for name in self.project.files
            for number, line in enumerate(self.project.read(name).splitlines(), 1)
            if text.lower() in line.lower()
        ]

    def read_file(self, path: str) -> str:
        """Read a file of the project.

        Args:
            path: such as shop/auth.py
        """
        return self.project.read(path)

    def write_file(self, path: str, text: str) -> dict[str, Any]:
        """Write a file of the project; what it held before is kept.

        Args:
            path: such as shop/auth.py
            text: all of the file
        """
        return {"changed": [path] * self.project.write(path, text)}

    def replace_in_file(self, path: str, old: str, new: str) -> dict[str, Any]:
        """Replace a text that stands once in a file.

        Args:
            path: such as shop/auth.py
            old: what stands there now, long enough to stand there once
            new: what shall stand there
        """
        text = self.project.read(path)
        if not old or text.count(old) != 1:
            mend = "read the file and copy the text exactly, with enough around it"
            raise ValueError(f"{path}: the old text occurs {text.count(old) if old else 0} times, not once; {mend}")
        return {"changed": [path] * self.project.write(path, text.replace(old, new))}

    def analyze_auth(self) -> dict[str, Any]:
        """Analyze the structure of the auth module: what it keeps, what it offers, and who uses it."""
        tree, users = self._tree(_AUTH), source.uses(self._tree(_ENDPOINTS), "auth")
        words = " ".join(sorted(source.identifiers(tree)))
        kind = next((kind for kind in ("session", "token") if kind in words), "unknown")
        return {
            "finding": f"Auth module uses {kind}-based auth with {len(users)} endpoints",
            "functions": [function.name for function in source.functions(tree)],
            "endpoints": users,
        }

    def list_endpoints(self) -> list[dict[str, str]]:
        """List the endpoints: name, method, path, and where each reads the user's credential."""
        return source.endpoints(self._tree(_ENDPOINTS))

    def design_token_schema(self, claims: list[Claim], minutes: int) -> dict[str, Any]:
        """Write down what a token holds and how long it is valid.

        Args:
            claims: sub (who) and exp (until when) at least; iss (from whom) and iat (since when) as you like
            minutes: how long a token is valid, 1 to 1440
        """
        if lacking := [claim for claim in ("sub", "exp") if claim not in claims]:
            raise ValueError(f"a token without {' and '.join(lacking)} says too little; add it to claims")
        if not 1 <= minutes <= 1440:
            raise ValueError(f"a token can't be valid for {minutes} minutes; give 1 to 1440")
        schema = {"algorithm": "HS256", "claims": list(dict.fromkeys(claims)), "minutes": minutes}
        return {"schema": schema, **self._write({_SCHEMA: json.dumps(schema, indent=2) + "\n"})}

    def implement_jwt(self) -> dict[str, Any]:
        """Write the module that makes and checks tokens, and let the auth module use it."""
        self._needs(_SCHEMA, "design_token_schema")
        return self._write({_TOKENS: _template("tokens.py"), _AUTH: _template("auth.py")})

    def update_endpoints(self) -> dict[str, Any]:
        """Let every endpoint take a token from the request instead of a session."""
        self._needs(_TOKENS, "implement_jwt")
        before = self.project.read(_ENDPOINTS)
        after = source.edited(before, source.TO_TOKENS)
        return {"endpoints": source.changed(_ENDPOINTS, before, after), **self._write({_ENDPOINTS: after})}

    def update_tests(self) -> dict[str, Any]:
        """Let the tests log in with tokens, then run them."""
        self._needs(_TOKENS, "implement_jwt")
        tests = source.edited(self.project.read(_TEST_ENDPOINTS), source.TESTS_TO_TOKENS)
        changed = self._write({_TEST_AUTH: _template("test_auth.py"), _TEST_ENDPOINTS: tests})
        return {**changed, **self.run_test_suite()}

    def fix_token_header(self, endpoints: list[str]) -> dict[str, Any]:
        """Let endpoints take the token that stands after "Bearer" in the header Authorization.

        Args:
            endpoints: their names, such as profile
        """
        known = self.list_endpoints()
        reading = [one["name"] for one in known if one["reads"] == "Authorization header"]
        names = [next((one["name"] for one in known if one["path"] == name), name) for name in endpoints]
        if wrong := [name for name in names if name not in reading] or ([] if names else ["none"]):
            there = ", ".join(reading) or "none; call update_endpoints first"
            raise ValueError(f"{', '.join(wrong)}: give endpoints that read the header Authorization: {there}")
        before = self.project.read(_ENDPOINTS)
        after = source.with_bearer(before, self._tree(_ENDPOINTS), names)
        return {"endpoints": source.changed(_ENDPOINTS, before, after), **self._write({_ENDPOINTS: after})}

    def run_test_suite(self) -> dict[str, Any]:
        """Run the project's unit tests: how many passed, which failed, and a summary."""
        order = [one["path"] for one in self.list_endpoints()]
        return suite.run(self.project.folder, order)

    def restore(self, files: list[str]) -> dict[str, Any]:
        """Put files back to what they were before their last change.

        Args:
            files: such as shop/auth.py
        """
        project = self.project
        if fresh := [name for name in files if project.changes(name) < files.count(name)]:
            raise ValueError(f"{', '.join(fresh)}: there is no change to take back; name files that were changed")
        for name in reversed(files):
            project.restore(name)
        return {"restored": files}

    def _tree(self, name: str) -> Any:
        return source.tree_of(name, self.project.read(name))

    def _needs(self, name: str, maker: str) -> None:
        if name not in self.project.files:
            raise ValueError(f"{name} is not there yet; call {maker} first")

    def _write(self, texts: dict[str, str]) -> dict[str, Any]:
        return {"changed": [name for name, text in texts.items() if self.project.write(name, text)]}


def _template(name: str) -> str:
    return (files(__package__) / "releases" / "jwt" / name).read_text(encoding="utf-8")
