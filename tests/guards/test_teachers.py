"""exercises/teachers: links and commands exist, the hub's configuration is Python; `make hub` does what the page says."""

import re
import shlex
from pathlib import Path

import pytest

from tests.guards.books import ROOT
from tests.guards.readme_rules import links, make_targets
from tests.hub.hub import block

FOLDER = ROOT / "exercises" / "teachers"


@pytest.mark.parametrize("page", sorted(FOLDER.glob("*.md")), ids=lambda page: page.name)
def test_links_and_commands_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [link for link in links(text) if not (FOLDER / link.partition("#")[0]).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert make_targets(text) - set(re.findall(r"^([a-z-]+):", makefile, re.M)) == set()


def test_what_the_hub_is_set_up_with_can_be_read() -> None:
    compile(block("python", "c.Spawner"), "jupyterhub_config.py", "exec")
    compile(block("python", "c.Exchange"), "nbgrader_config.py", "exec")
    assert all(
        shlex.split(line) for having in ("git clone", "/srv/server") for line in block("sh", having).splitlines()
    )


@pytest.mark.parametrize("command", ["test", "check", "test-latest"])
def test_the_hub_is_tried_by_its_own_command_alone(command: str) -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    (recipe,) = re.findall(rf"^{command}:.*\n((?:\t.*\n)+)", makefile, re.M)
    assert re.search(r'-m "[^"]*\bnot hub"', recipe)
