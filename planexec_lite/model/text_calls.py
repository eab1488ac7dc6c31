"""Finds tool calls that a model writes as text, because its endpoint does not read the model's own format of calls.

Such calls are not made: the text might quote a page or a mail. The model is asked again instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

_FORMS = r"""
# marks of Hermes, Qwen, Granite, Mistral, Llama, DeepSeek, Kimi, GLM, MiniMax, gpt-oss, Gemma, Cohere, InternLM, Apertus, Cline
(?<![`"'])(?:<[|｜]?(?:\w+[:｜_])?(?:(?i:(?:tool|function)s?[_▁]?(?:calls?|use|code|prefix|name))|invoke[ ]name=)|<function=
  |<\|(?i:python_tag|action_start|start_action|recipient)\|>|(?:\[|^)TOOL_CALLS?\]|\bto=(?:functions\.|(?:TOOLS)\b)|^functools\[
  |^```tool_|<\w+_tool>|✿FUNCTION✿)
| ^\W{0,5}(?i:action|act|(?:tool|function)(?:[ _](?:call|code|name|use))?)[ ]?\d*\W{0,3}:\W{0,5}(?:TOOLS)\b
| ^\W{0,5}(?i:call)\W{0,3}:\W{0,5}(?:TOOLS)\s*(?:[({]|$)
| ^<(?:TOOLS)(?:\s[^<>\n]*)?>  # the tool's name as a tag
| ^<(?:tool|action|function|call|command)(?:[^<>\n]*=Q|>\s*)(?:TOOLS)\b  # or in one
| \A\W*(?:TOOLS)(?:\s*\n|Q?\s*:?)\s*\{  # or before the arguments
| ^[ \t-]*name:[ ]*Q?(?:TOOLS)Q?\s*\n\s*(?:arguments|parameters|args|params|\w*input):  # YAML
| \A\W*(?:\w+>?\n\s*)?CODE(?s:.*)[)\]`](?:\s*</code>)?\s*\Z  # Python
| ^CODE[^\n]*\)\s*\Z
| ^(?:```\w*|<code>)\n\s*CODE
| \A[^\n(]{0,60}\b(?i:call(?:ing)?|us(?:e|ing)|run(?:ning)?)(?::|[ ]tool)?[ ](?:TOOLS)(?:\(|[ ]with[ ]\{)[^\n]*[)}]
| ^[ \t]*[\[{][\s\[{]{0,20}(?:FIRST)*(?:  # JSON at the beginning of a line, perhaps broken
    NAME\s*:\s*(?:Q(?:functions\.)?(?:TOOLS)Q\s*(?:,[^{}]*?ARGUMENTS|[,}]?\s*\Z|\})|Q[\w.-]+Q\s*,\s*ARGUMENTS)
  | ARGUMENTS\s*:\s*\{[^{}]*\}\s*,\s*NAME
  | Q(?:function|function_?[cC]all|tool_calls|tool_uses|toolUse)Q\s*:\s*[\[{])
| (?<!\w)Q?WHICHQ?\s*:\s*Q(?:functions\.)?(?:TOOLS)Q\s*,[^{}]{0,300}?Q?GIVENQ?\s*:  # or in a sentence
| QGIVENQ\s*:\s*\{[^{}]{0,300}\}\s*,\s*QWHICHQ\s*:\s*Q(?:TOOLS)Q
| \{\s*QnameQ\s*:\s*Q[\w.-]+Q\s*,\s*QargumentsQ\s*:
"""
_WORDS = {
    "CODE": r"(?:(?:const\s+|let\s+)?\w+\s*=\s*)?(?:print\()?(?:await\s+)?(?:\w+\.)?(?:TOOLS)\(",
    "ARGUMENTS": "QGIVENQ",
    "NAME": "QWHICHQ",
    "GIVEN": "(?:arguments|parameters|args|params|input|action_input|tool_input|function_args)",
    "WHICH": "(?:name|tool|tool_name|recipient_name|function|function_name|action|command)",
    "FIRST": r"""Q(?:id|\w*call_?id|toolUseId|type|role|status|content)Q\s*:\s*(?:Q[^"']*Q|null)\s*,\s*""",
    "Q": r"""\\?["']""",
}


def has_call(text: str, tools: Iterable[str]) -> bool:
    """Return whether `text` contains a call in a model's own format, in JSON or in Python; `tools` are the names of the tools."""
    pattern = _FORMS
    for word, meaning in _WORDS.items():
        pattern = pattern.replace(word, meaning)
    pattern = pattern.replace("TOOLS", "|".join(map(re.escape, tools)) or "(?!)")
    return re.search(pattern, text, re.MULTILINE | re.VERBOSE) is not None
