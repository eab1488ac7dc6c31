"""Connect to a model: the scripted model of a world, or, with an environment variable set, a real endpoint."""

from __future__ import annotations

from importlib import import_module
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planexec_lite.model.asking import endpoint
from planexec_lite.tools import suggest

if TYPE_CHECKING:
    from openai import OpenAI


def connect(world: str, script: str = "scenes") -> OpenAI:
    """Return a genuine `openai.OpenAI` client for a world such as "deploy".

    Args:
        world: a folder of `planexec_lab.worlds`.
        script: the world's scene file that answers. A real endpoint (see `planexec_lite.model.asking.endpoint`) ignores it.

    Raises `ValueError` for an unknown world or script, or a setting that is neither "openai" nor a URL; `ImportError`
    without the openai client.
    """
    path = _script(world, script)
    if (client := endpoint()) is not None:
        return client
    from planexec_lab.timed_llm import TimedLLM

    try:
        return TimedLLM([path, *_scenes(world, script)]).client()
    except ModuleNotFoundError as error:
        raise ImportError(f"connect needs the openai client: pip install 'planexec-lite[openai]' ({error})") from None


def _scenes(world: str, script: str) -> list[dict[str, Any]]:
    """The scene of the world's scripted planner, which answers where the file has no scene for a whole plan."""
    module = f"planexec_lab.worlds.{world}.planner"
    if find_spec(module) is None:
        return []
    planner = import_module(module).PLANNERS.get(script)
    when = {"system": ["Role: planner", "Write the whole plan"]}
    return [{"name": "the scripted planner", "when": when, "reply": {"python": planner.reply}}] if planner else []


def _script(world: str, script: str) -> Path:
    worlds = Path(str(files("planexec_lab"))) / "worlds"
    known = {path.parent.name: path.parent for path in sorted(worlds.glob("*/*.yaml"))}
    if world not in known:
        raise ValueError(f"there is no world {world!r}{suggest(world, known)}; there are: {', '.join(known)}")
    scripts = {path.stem: path for path in sorted(known[world].glob("*.yaml"))}
    if script not in scripts:
        near = suggest(script, scripts)
        raise ValueError(f"world {world!r} has no script {script!r}{near}; it has: {', '.join(scripts)}")
    return scripts[script]
