"""A real endpoint, by one environment variable.

``PLANEXEC_LLM=openai`` gives a plain `OpenAI()` client, which reads its own key from the environment. A URL, such as
``PLANEXEC_LLM=http://127.0.0.1:11434/v1``, gives a client of the endpoint there. Without the variable the model is scripted.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from openai import OpenAI


def endpoint() -> OpenAI | None:
    """Return a client of the real endpoint that ``PLANEXEC_LLM`` names; None if it names none.

    Raises `ValueError` for a setting that is neither "openai" nor a URL, and `ImportError` without the openai client.
    """
    setting = os.environ.get("PLANEXEC_LLM", "")
    if setting in ("", "scripted"):
        return None
    try:
        from openai import OpenAI
    except ImportError as error:
        raise ImportError(
            f"a real endpoint needs the openai client: pip install 'planexec-lite[openai]' ({error})"
        ) from None
    if setting == "openai":
        return OpenAI()
    if setting.startswith(("http://", "https://")):
        return OpenAI(base_url=setting, api_key=os.environ.get("OPENAI_API_KEY") or "none")
    raise ValueError(f"PLANEXEC_LLM={setting!r}: set it to openai or to a URL, or leave it out for the scripted model")
