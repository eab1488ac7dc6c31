"""Finds tool calls that a model writes as text, because its endpoint does not read the model's own format of calls.

Such calls are not made: the text might quote a page or a mail. The model is asked again instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FORMS = r"""
# marks of Hermes, Qwen, Granite, Mistral, Llama, DeepSeek, Kimi, GLM, MiniMax, gpt-oss and Gemma
(?<![`"'])(?:<[|｜]?(?:\w+[:｜])?(?:tool|function)[_▁]?(?:calls?|use|code)|<function=|<invoke[ ]name=
  |<\|python_tag\|>|\[TOOL_CALLS?\]|to=functions\.|^```tool_)
| ^Action:[ ]*(?:TOOLS)\b
| \A\W*(?:\w+\n\s*)?(?:print\()?(?:TOOLS)\((?s:.*)[)\]`]\s*\Z  # Python
| ^[ \t]*[\[{][\s\[{]{0,20}(?:Q(?:id|type)Q\s*:\s*Q[^"']*Q\s*,\s*)*(?:  # JSON at the beginning of a line, perhaps broken
    NAME\s*:\s*(?:Q(?:TOOLS)Q\s*(?:,[^{}]*?ARGUMENTS|[,}]?\s*\Z|\})|Q[\w.-]+Q\s*,\s*ARGUMENTS)
  | ARGUMENTS\s*:\s*\{[^{}]*\}\s*,\s*NAME
  | Q(?:function|tool_calls)Q\s*:\s*[\[{])
"""
_ARGUMENTS = "Q(?:arguments|parameters|args|params|input|action_input|tool_input)Q"
_WORDS = {"ARGUMENTS": _ARGUMENTS, "NAME": "Q(?:name|tool|tool_name|function|action)Q", "Q": """["']"""}


def has_call(text: str, tools: Iterable[str]) -> bool:
    """Return whether `text` contains a call in a model's own format, in JSON or in Python; `tools` are the names of the tools."""
    pattern = _FORMS
    for word, meaning in _WORDS.items():
        pattern = pattern.replace(word, meaning)
    pattern = pattern.replace("TOOLS", "|".join(map(re.escape, tools)) or "(?!)")
    return re.search(pattern, text, re.MULTILINE | re.VERBOSE) is not None
