"""The rule for scripts: where a value can be in a script, and which programs get values.

A value never becomes part of a script's text. The shell finds it in a variable inside double quotes, ``GANTZ_ARG_NAME`` as gantz
itself calls it, and a command finds it in its arguments. A tool with parameters is one of these:

- programs of `READERS`, joined by ``&&``, ``||``, ``;``, ``|`` or line ends, and ``>`` to a fixed file;
- a script file, such as ``./deploy.sh`` or ``python tools/report.py``, without other commands and ``>``;
- ``psql mydb < {{file}}``, without other values, commands and ``>``.

A placeholder is a whole argument, or is inside double quotes. A value can name a file that is read, never one that is written.
Everything else is refused, because the rule does not try to understand a script. The error shows the entry to write instead. A
tool without parameters has no values, so its script runs unchanged.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

PARAMETER = r"\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}"
# they read, print or wait; none of their arguments runs a program or names a file to write
READERS = frozenset(
    """basename cat cut diff dirname du echo false fold grep head ls md5sum nl rev seq sha256sum sleep stat
    tac tail tr true wc""".split()
)
_INTERPRETERS = ("bash", "node", "python", "python3", "sh")
_SCRIPT_FILE = re.compile(r"(?!-)[\w./-]+\.(?:js|py|sh)", re.ASCII)

_QUOTED = r'"[^"$`\\]*"'
_PIECE = rf"[\w@%+=:,./-]|'[^']*'|{_QUOTED}"
_END = r"(?=[ \t\n;|&]|\Z)"
_TOKEN = re.compile(
    rf"""[ \t]+
    | (?P<join> (?:&&|\|\|?|;|\n) [ \t\n]*)
    | [12]?>&[12]{_END}
    | (?P<arrow> [12]?>>?|<)? [ \t]* (?P<word> (?:{PARAMETER}|{_PIECE})+){_END}""",
    re.ASCII | re.VERBOSE,
)


class ManifestError(ValueError):
    """A manifest that can't be read, or a tool in it that can't be made safe; the message lists every problem."""


@dataclass(frozen=True)
class Script:
    """A script that the rule permits.

    `text` is the shell's input, or None for a command of `arguments`. `variables` maps each parameter to its environment
    variable. `checked` has the words with placeholders, for the check of the values of a call.
    """

    text: str | None
    arguments: tuple[str, ...]
    variables: Mapping[str, str]
    checked: tuple[str, ...]


def variable_of(name: str) -> str:
    """Return the environment variable of a parameter."""
    return "GANTZ_ARG_" + re.sub(r"\W", "_", name.upper())


def check_names(text: str, names: Collection[str]) -> None:
    """Raise `ManifestError` for a placeholder that names no parameter, and for a template of another kind."""
    for name in re.findall(PARAMETER, text):
        if name not in names:
            known = ", ".join(names) or "none"
            raise ManifestError(f"the script names {{{{{name}}}}}, which is not a parameter; there are: {known}")
    if other := re.search(r"\{\{(?!\.)[^{}]*\}\}", re.sub(PARAMETER, "", text)):
        raise ManifestError(f"{other[0]!r} is not a parameter, and gantz has no conditions")


def prepare(
    script: str | Sequence[str],
    names: Collection[str],
    optional: Collection[str] = (),
    tool: str = "tool",
) -> Script:
    """Return `script`, the shell's input or the words of a command, with a reference for each placeholder.

    Args:
        names: the parameters.
        optional: the parameters that can be missing. A missing parameter that is a whole word of a shell script is dropped.
        tool: the tool's name, for the entry in an error.

    Raises `ManifestError` where the rule does not permit the script, with the entry to write instead.
    """
    text, arguments = (script, ()) if isinstance(script, str) else (None, tuple(script))
    written = "\n".join([text or "", *arguments])
    check_names(written, names)
    variables = {name: variable_of(name) for name in names}
    if not names:
        return Script(text, arguments, variables, ())
    commands, inputs, outputs = [list(arguments)], list[str](), list[str]()
    try:
        if text is not None:
            commands, inputs, outputs, text = _read(text.strip(), variables, optional)
        if any(map(_has_value, outputs)):
            raise ManifestError("a value can't name a file that is written")
        alone = len(commands) == 1 and set(outputs) <= {"/dev/null"}
        for words in commands:
            _check(words, alone)
    except ManifestError as error:
        used = dict.fromkeys(re.findall(PARAMETER, written))
        raise ManifestError(f"{error}.\n{_rewritten(tool, list(used or names))}") from None
    words = [word for command in commands for word in command]
    return Script(text, arguments, variables, tuple(filter(_has_value, words + inputs)))


def _read(
    text: str, variables: Mapping[str, str], optional: Collection[str]
) -> tuple[list[list[str]], list[str], list[str], str]:
    """Return the words of each command, the files after ``<`` and after ``>``, and the script with its references."""
    commands: list[list[str]] = [[]]
    inputs: list[str] = []
    outputs: list[str] = []
    written: list[str] = []
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ManifestError(f"only simple commands can get values, and the script has {text[at : at + 20]!r}")
        at = token.end()
        arrow, word = token["arrow"], token["word"]
        if token["join"]:
            commands.append([])
        if word is None:
            written.append(token[0])
            continue
        words = commands[-1]
        if arrow:
            words = inputs if arrow == "<" else outputs
        words.append(_content(word))
        written.append(token[0].removesuffix(word) + _referring(word, variables, () if arrow else optional))
    return commands, inputs, outputs, "".join(written)


def _check(words: Sequence[str], alone: bool) -> None:
    """Raise `ManifestError` where a command is not permitted; `alone` says that the script has no other, and no output file."""
    if not words:
        raise ManifestError("a command is missing")
    for word in words:
        if _has_value(word) and word.startswith("-"):
            raise ManifestError(f"the option {word!r} contains a value; write the value as a separate argument")
    program = words[0]
    if program in READERS:
        return
    is_file = "/" in program and _SCRIPT_FILE.fullmatch(program)
    runs_file = program in _INTERPRETERS and _SCRIPT_FILE.fullmatch("".join(words[1:2]))
    loads = program == "psql" and not any(map(_has_value, words))
    if not (is_file or runs_file or loads):
        raise ManifestError(f"{program!r} might run a value, or change a file that a value names")
    if not alone:
        raise ManifestError(f"{program!r} must be the only command, without >, because it could run what is written")


def _has_value(word: str) -> bool:
    return re.search(PARAMETER, word) is not None


def _content(word: str) -> str:
    """Return a word as its program gets it, with its placeholders."""
    if not _has_value(word):
        return re.sub(r"""'([^']*)'|"([^"]*)\"""", r"\1\2", word)
    if re.fullmatch(_QUOTED, word):
        return word[1:-1]
    if not re.fullmatch(PARAMETER, word):
        raise ManifestError(f"in {word!r}, the value must be a whole argument, or in double quotes with the rest of it")
    return word


def _referring(word: str, variables: Mapping[str, str], optional: Collection[str]) -> str:
    """Return a word of a shell script with a reference for each placeholder."""
    whole = re.fullmatch(PARAMETER, word)
    if whole is None:
        return re.sub(PARAMETER, lambda one: f"${{{variables[one[1]]}-}}", word)
    variable = variables[whole[1]]
    if whole[1] in optional:
        return f'${{{variable}+"${{{variable}}}"}}'
    return f'"${{{variable}-}}"'


def _rewritten(tool: str, names: Sequence[str]) -> str:
    """Return the entry to write instead: the script in a separate file, which gets the values as arguments."""
    file = f"./{tool}.sh"
    places = ", ".join(f'"${place}" is {{{{{name}}}}}' for place, name in enumerate(names, 1))
    args = [file, *(f"{{{{{name}}}}}" for name in names)]
    return "\n".join(
        [
            f"Move the script to {file}, where {places} and must never be code, and write:",
            f"  - name: {tool}",
            "    script:",
            "      command: sh",
            f"      args: {json.dumps(args)}",
        ]
    )
