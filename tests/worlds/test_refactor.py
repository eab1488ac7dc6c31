"""The refactor world is real: its files are read, changed and tested, and what a test alters in them changes the run."""

import os

import pytest

from planexec_lab.worlds import refactor
from planexec_lite import Plan, Simulated, ToolExecutor, execute

pytestmark = pytest.mark.slow

THREE = ["profile", "orders", "settings"]


@pytest.fixture
def world():
    return refactor.World()


def run(world):
    return execute(Plan.parse(refactor.PLAN), ToolExecutor(world.tools), workers=Simulated(4))


def move(world):
    """Everything up to the endpoints, which then take the header for the token."""
    world.design_token_schema(["sub", "iat", "exp"], 30)
    world.implement_jwt()
    return world.update_endpoints()


def alter(world, name, old, new):
    path = world.project.folder / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def tree(folder):
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_bug_in_a_source_file_is_found_by_the_tests(world):
    alter(world, "shop/endpoints.py", '{"name": user}', '{"name": user.upper()}')
    assert world.run_test_suite()["summary"] == "1 test fails: test_profile"
    move(world)
    assert world.update_tests()["summary"] == "3 endpoints return 401: profile, orders, settings"
    world.fix_token_header(THREE)
    assert world.run_test_suite()["summary"] == "1 test fails: test_profile"


def test_undoing_every_step_in_reverse_brings_back_every_byte(world):
    before = tree(world.project.folder)
    results = run(world).results
    fixed = world.fix_token_header(THREE)
    for changed in (fixed, *(results[id] for id in "6543")):
        world.restore(changed["changed"])
    assert tree(world.project.folder) == before
    assert world.run_test_suite()["failed"] == []


BAD_PATHS = [
    "../secrets.txt", "shop/../../secrets.py", "/etc/passwd", "shop/../auth.py", "C:/shop/auth.py", "shop\\auth.py",
    "shop//auth.py", "~/auth.py", "", ".", "shop", "shop/auth.py\n", "shop/auth.py\0", "shop/.py", "auth.py",
    "shop/" + "a" * 300 + ".py", "SHOP/auth.py", "shop/auth.pyc", "shop/sub/auth.py", "../versions/shop-auth.py.json",
]  # fmt: skip


@pytest.mark.parametrize("path", BAD_PATHS)
@pytest.mark.parametrize("tool", ["read_file", "write_file", "replace_in_file"])
def test_a_path_that_is_no_file_of_the_project_is_refused_and_touches_nothing(world, tool, path):
    more = {"read_file": {}, "write_file": {"text": "x"}, "replace_in_file": {"old": "a", "new": "b"}}[tool]
    before = tree(world.folder.parent / world.folder.name)
    with pytest.raises(ValueError, match="is no file of the project"):
        world.tools[tool].call({"path": path, **more})
    assert tree(world.folder) == before


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need a privilege on Windows")
def test_a_link_that_leads_out_is_not_followed(world):
    outside = world.folder / "outside.py"
    outside.write_text("kept")
    (world.project.folder / "shop" / "link.py").symlink_to(outside)
    for call in (lambda: world.read_file("shop/link.py"), lambda: world.write_file("shop/link.py", "lost")):
        with pytest.raises(ValueError, match="is no file of the project"):
            call()
    assert outside.read_text() == "kept"


def test_source_that_is_no_python_is_named_with_its_line(world):
    alter(world, "shop/endpoints.py", "def profile(request):", "def profile(request:")
    for tool in (world.list_endpoints, world.analyze_auth, world.run_test_suite):
        with pytest.raises(ValueError, match=r"shop/endpoints.py is no Python at line \d+"):
            tool()


@pytest.mark.slow
def test_tests_that_do_not_end_are_ended(world, monkeypatch):
    monkeypatch.setattr(refactor.world.suite, "_SECONDS", 1)
    world.write_file("tests/test_auth.py", "while True:\n    pass\n")
    with pytest.raises(RuntimeError, match="did not end within 1 s"):
        world.run_test_suite()


def test_line_ends_come_back_as_they_were():
    world = refactor.World()
    name = world.project.files[0]
    world.project.write(name, "a = 1\r\nb = 2\r\n")
    world.project.write(name, "x = 1\n")
    world.project.restore(name)
    assert (world.project.folder / name).read_bytes() == b"a = 1\r\nb = 2\r\n"
    assert world.project.write(name, "a = 1\r\nb = 2\r\n") is False
