"""Connect to a model: the scripted model of a world, or, with an environment variable set, a real endpoint."""

from __future__ import annotations

import re
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from planexec_lab.worlds.minds.scripted import REAL_MODEL
from planexec_lite.model.asking import endpoint
from planexec_lite.tools import suggest

if TYPE_CHECKING:
    from collections.abc import Mapping

    from openai import OpenAI

    from planexec_lab.worlds.minds.scripted import ScriptedPlanner

_REQUEST = r"^News:|\[change_asked\]|UnprocessableEntityError"
_GOAL = re.compile(r"^ +goal: '?(.+?)'?$", re.M)  # of a plan in a scene file


def connect(world: str, script: str = "scenes") -> OpenAI:
    """Return a genuine `openai.OpenAI` client for a world such as "deploy".

    Args:
        world: a folder of `planexec_lab.worlds`.
        script: the world's scene file that answers. A real endpoint (see `planexec_lite.model.asking.endpoint`) ignores it.

    Raises `ValueError` for an unknown world or script, or a setting that is neither "openai" nor a URL; `ImportError`
    without the openai client.
    """
    sources = script_of(world, script)
    if (client := endpoint()) is not None:
        return client
    from planexec_lab.timed_llm import TimedLLM

    try:
        return TimedLLM(sources).client()
    except ModuleNotFoundError as error:
        raise ImportError(f"connect needs the openai client: pip install 'planexec-lite[openai]' ({error})") from None


def script_of(world: str, script: str) -> list[Any]:
    """Return the scenes of a world's script: its file, its scripted planner, and what answers where no other scene fits.

    Raises `ValueError` for an unknown world or script.
    """
    worlds = Path(str(files("planexec_lab"))) / "worlds"
    known = {path.parent.name: path.parent for path in sorted([*worlds.glob("*/*.yaml"), *worlds.glob("*/planner.py")])}
    if world not in known:
        raise ValueError(f"there is no world {world!r}{suggest(world, known)}; there are: {', '.join(known)}")
    scripts = {path.stem: path for path in sorted(known[world].glob("*.yaml"))}
    planners: Mapping[str, ScriptedPlanner] = {}
    if (known[world] / "planner.py").exists():
        planners = import_module(f"planexec_lab.worlds.{world}.planner").PLANNERS
    if script not in (names := sorted({*scripts, *planners})):
        raise ValueError(
            f"world {world!r} has no script {script!r}{suggest(script, names)}; it has: {', '.join(names)}"
        )
    if script in planners:
        scenes, limits = [planners[script].scene], planners[script].limits()
    else:
        goals = [*dict.fromkeys(re.sub(r"{{\w+}}", "…", goal) for goal in _GOAL.findall(scripts[script].read_text()))]
        limits = f"this planner is a script that knows only “{'”, “'.join(goals)}” and no requests; {REAL_MODEL}"
        patterns = "|".join(re.escape(goal).replace("…", ".*") for goal in goals)
        asks = {"more": rf"(?m)\AGoal: (?!(?:{patterns})$)|{_REQUEST}"}
        # With more conditions than any scene has, this one answers first.
        scenes = [
            {
                "name": "a request",
                "when": {"system": ["Role: planner"] * 20, "find": asks},
                "reply": {"refusal": limits},
            }
        ]
    file = [scripts[script]] if script in scripts else []
    return [
        *file,
        *scenes,
        {"name": "anything else", "when": {"system": "Role: planner"}, "reply": {"refusal": limits}},
    ]
