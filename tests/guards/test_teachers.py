"""exercises/teachers/README.md: its links and commands exist, its configuration is Python; `make hub` does what it says."""

import re
import shlex

import pytest

from tests.guards.books import ROOT
from tests.guards.readme_rules import links, make_targets
from tests.hub.hub import PAGE, block


def test_links_and_commands_exist() -> None:
    assert [link for link in links(PAGE) if not (ROOT / "exercises" / "teachers" / link).exists()] == []
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert make_targets(PAGE) - set(re.findall(r"^([a-z-]+):", makefile, re.M)) == set()
    assert len(PAGE.splitlines()) <= 120


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
