"""Finds tool calls that a model writes as text, because its endpoint does not read the model's own format of calls.

Such calls are not made: the text might quote a page or a mail. The model is asked again instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FORMS = r"""
# marks of Hermes, Qwen, Granite, Mistral, Llama, DeepSeek, Kimi, GLM, MiniMax, gpt-oss, Gemma, Nemotron, Cohere, InternLM, Apertus
(?<![`"'])(?:<[|｜]?(?:\w+[:｜_])?(?i:(?:tool|function)s?[_▁]?(?:calls?|use|code|prefix))|<function=|<invoke[ ]name=
  |<\|(?i:python_tag|action_start|start_action)\|>|(?:\[|^)TOOL_CALLS?\]|\bto=(?:functions\.|(?:TOOLS)\b)|^functools\[|^```tool_)
| ^Action:[ ]*(?:TOOLS)\b
| ^<(?:TOOLS)>  # the tool's name as a tag
| \A\W*(?:TOOLS)\s*\n\s*\{  # or on a line of its own
| ^(?:tool|tool_name|function|name):[ ]*(?:TOOLS)\s*\n(?:arguments|parameters|args|params|input):  # YAML
| \A\W*(?:\w+>?\n\s*)?(?:\w+\s*=\s*)?(?:print\()?(?:TOOLS)\((?s:.*)[)\]`](?:\s*</code>)?\s*\Z  # Python
| ^[ \t]*[\[{][\s\[{]{0,20}(?:FIRST)*(?:  # JSON at the beginning of a line, perhaps broken
    NAME\s*:\s*(?:Q(?:functions\.)?(?:TOOLS)Q\s*(?:,[^{}]*?ARGUMENTS|[,}]?\s*\Z|\})|Q[\w.-]+Q\s*,\s*ARGUMENTS)
  | ARGUMENTS\s*:\s*\{[^{}]*\}\s*,\s*NAME
  | Q(?:function|function_?[cC]all|tool_calls|tool_uses|toolUse)Q\s*:\s*[\[{])
"""
_ARGUMENTS = "Q(?:arguments|parameters|args|params|input|action_input|tool_input)Q"
_WORDS = {
    "ARGUMENTS": _ARGUMENTS,
    "NAME": "Q(?:name|tool|tool_name|recipient_name|function|action)Q",
    "FIRST": r"""Q(?:id|\w*call_?id|toolUseId|type|role|status|content)Q\s*:\s*(?:Q[^"']*Q|null)\s*,\s*""",
    "Q": """["']""",
}


def has_call(text: str, tools: Iterable[str]) -> bool:
    """Return whether `text` contains a call in a model's own format, in JSON or in Python; `tools` are the names of the tools."""
    pattern = _FORMS
    for word, meaning in _WORDS.items():
        pattern = pattern.replace(word, meaning)
    pattern = pattern.replace("TOOLS", "|".join(map(re.escape, tools)) or "(?!)")
    return re.search(pattern, text, re.MULTILINE | re.VERBOSE) is not None
