"""One setting says which model answers: a world's scripted model, or a real endpoint.

Without ``PLANEXEC_LLM`` in the environment the model is scripted: no key, no network, no cost, the same answer every
time. ``PLANEXEC_LLM=openai`` gives a plain `OpenAI()` client, which reads its own key from the environment; a URL, such
as ``PLANEXEC_LLM=http://127.0.0.1:11434/v1``, gives a client of the endpoint there.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from planexec_lite.tools import suggest

if TYPE_CHECKING:
    from openai import OpenAI


def connect(world: str, script: str = "scenes") -> OpenAI:
    """Return a genuine `openai.OpenAI` client for a world such as "deploy".

    Args:
        world: a folder of `planexec_lite.scenarios`.
        script: which of the world's scene files answers, where the model is scripted.

    Raises `ValueError` for an unknown world or script, or a setting that is neither "openai" nor a URL.
    """
    path = _script(world, script)
    if (client := endpoint()) is not None:
        return client
    from mock_llm import MockLLM

    return MockLLM.load(path).client()


def endpoint() -> OpenAI | None:
    """Return a client of the real endpoint that the setting names; None: the model is scripted.

    Raises `ValueError` for a setting that is neither "openai" nor a URL.
    """
    setting = os.environ.get("PLANEXEC_LLM", "")
    if setting in ("", "scripted"):
        return None
    from openai import OpenAI

    if setting == "openai":
        return OpenAI()
    if setting.startswith(("http://", "https://")):
        return OpenAI(base_url=setting, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    raise ValueError(f"PLANEXEC_LLM={setting!r}: set it to openai or to a URL, or leave it out for the scripted model")


def _script(world: str, script: str) -> Path:
    worlds = Path(str(files("planexec_lite"))) / "scenarios"
    known = {path.parent.name: path.parent for path in sorted(worlds.glob("*/*.yaml"))}
    if world not in known:
        raise ValueError(f"there is no world {world!r}{suggest(world, known)}; there are: {', '.join(known)}")
    scripts = {path.stem: path for path in sorted(known[world].glob("*.yaml"))}
    if script not in scripts:
        near = suggest(script, scripts)
        raise ValueError(f"world {world!r} has no script {script!r}{near}; it has: {', '.join(scripts)}")
    return scripts[script]
