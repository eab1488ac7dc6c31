"""Puts a reference to an environment variable where a script has ``{{name}}``, or refuses the script.

A value never becomes part of a script. It is in an environment variable, and the script refers to it inside double quotes.
This is safe without a shell parser, because a script with parameters must be one simple command: words, quoted text, and files
after ``<`` or ``>``. A program that executes its arguments is refused. The list of such programs can't be complete: the author
of a manifest must know whether a custom program executes its arguments.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

_PARAMETER = r"\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}"
_PARTS = re.compile(rf"""(?P<single>'[^']*')|(?P<double>"[^"$`\\]*")|{_PARAMETER}|[A-Za-z0-9_@%+=:,./-]+""")
_TOKENS = re.compile(rf"[ \t]+|(?P<file>(?<!\S)[0-9]?(?:<|>>?))|(?P<word>(?:{re.sub('P<.*?>', ':', _PARTS.pattern)})+)")
_FIX = (
    "move the rest into a separate script file, executable and with a first line such as #!/bin/sh, and call that file with"
    " {{name}} as an argument"
)
_SHELL_COMMANDS = frozenset(  # they change the shell, or evaluate their arguments
    """. : [ alias bind break case cd compgen complete continue coproc declare do done elif else enable esac exit export fc fi for
    function getopts hash if let local mapfile read readarray readonly return select set shift shopt test then times trap type
    typeset ulimit umask unalias unset until wait while""".split()
)
_RUNNERS = re.compile(  # programs that run what they are given, also at the end of a path; and subcommands
    r"(?<![\w.-])(?:(?:(?:ba|da|a|k|mk|pdk|z|fi|c|tc|r|rba|s)?sh|busybox|toybox|i?python|pypy|perl|ruby|php|lua|node|tclsh|ld-linux"
    r"|vi|view|r?vim|nvim|vimdiff|emacs|editor|sensible-[a-z]+)(?:[-.\d][\w.+-]*)?|nodejs"
    r"|deno|bun|tsx|luajit|wish|expect|R|Rscript|octave|osascript|java|jshell|groovy|scala|julia|swift|elixir|guile|go"
    r"|[gmn]?awk|g?sed|jq|bc|dc|m4|gdb|lldb|ed|ex|pager|sqlite3|duckdb|g?make|cmake|ninja|tar|rsync|scp|sftp|mosh|adb"
    r"|sudo|su|sg|doas|pkexec|runcon|setarch|linux32|linux64|i[3-6]86|x86_64|ssh-agent|systemd-cat|choom|pipesz|valgrind|hyperfine|runuser|env|xargs|parallel|find|entr|watch|script|at|batch|crontab|nice|ionice|nohup|setsid|setpriv"
    r"|stdbuf|unbuffer|taskset|numactl|chrt|unshare|nsenter|bwrap|fakeroot|prlimit|timeout|time|chroot|flock|strace|ltrace"
    r"|socat|nc|ncat|screen|tmux|systemd-run|run-parts|docker|podman|kubectl|npm|npx|pnpm|yarn|uvx?|pipx)(?![\w./-])"
    r"|(?<![\w./-])(?:eval|source|exec|command|builtin|run|foreach)(?![\w./-])"
)
_LONG_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]*=")
_CODE_OPTION = re.compile(
    "command|cmd|exec|shell|program|plugin|askpass|viewer|browser"
    "|(?<![a-z])(?:run|filter|eval|print|expr|code|script|action|rsh|pack|pager|editor|config|hook|require|module|load|output|proxy"
    "|agent|template|query|sql|html|option|define|specs|args|git-dir)s?(?![a-z])"
)
_TEXT = ("echo", "printf")  # they only print their arguments


class ManifestError(ValueError):
    """A manifest that can't be read, or a tool in it that can't be made safe; the message lists every problem."""


@dataclass(frozen=True)
class Script:
    """A script that can be run.

    `text` is the shell's input, and `variables` maps each parameter to its environment variable. A value of a parameter in
    `leading` can't begin with "-", because the program might read it as an option. A value of a parameter in `inside` follows a
    folder in the script, and can't lead out of it with "..".
    """

    text: str
    variables: dict[str, str] = field(default_factory=dict)
    leading: frozenset[str] = frozenset()
    inside: frozenset[str] = frozenset()


def prepare(script: str, names: Sequence[str], optional: Collection[str] = ()) -> Script:
    """Return `script` with a reference for each ``{{name}}``. A script without parameters is returned unchanged.

    Args:
        names: the parameters; each must be used.
        optional: the parameters that can be missing. A missing parameter that is a whole word is dropped.

    Raises `ManifestError` where a value could become code.
    """
    used = list(dict.fromkeys(re.findall(_PARAMETER, script)))
    if unknown := [name for name in used if name not in names]:
        known = ", ".join(names) or "none"
        raise ManifestError(f"the script names {{{{{unknown[0]}}}}}, which is not a parameter; there are: {known}")
    if unused := [name for name in names if name not in used]:
        raise ManifestError(f"the script never uses {{{{{unused[0]}}}}}; use the parameter, or leave it out")
    if not used:
        return Script(script)
    variables = {name: f"gantz_value_{number}" for number, name in enumerate(used, 1)}
    text: list[str] = []
    leading: set[str] = set()
    arguments: list[str] = []
    names_file = False  # whether the next word names a file to open
    for token in _tokens(script.strip()):
        text.append(_referring(token[0], variables, optional) if token["word"] else token[0])
        if token["file"]:
            names_file = True
        elif token["word"]:
            word = _without_quotes(token[0])
            if names_file:
                _check_file(word)
            else:
                _check_argument(word, arguments)
                if word.startswith("\0") and not _options_ended(arguments):
                    leading.update(re.findall(_PARAMETER, token[0]))
                arguments.append(word)
            names_file = False
    inside = {name for name in used if re.search(rf"/\{{\{{\s*{name}\s*\}}\}}", script)}
    return Script("".join(text), variables, frozenset(leading), frozenset(inside))


def _tokens(script: str) -> Iterator[re.Match[str]]:
    at = 0
    while at < len(script):
        token = _TOKENS.match(script, at)
        if token is None:
            raise ManifestError(
                f"a script with parameters must be one plain command: words, quoted text, and files after < or >. It has"
                f" {script[at : at + 10]!r}; {_FIX}"
            )
        yield token
        at = token.end()


def _without_quotes(word: str) -> str:
    """Return what the shell makes of a word, with a NUL character for each value."""
    parts = (part[0][1:-1] if part["single"] or part["double"] else part[0] for part in _PARTS.finditer(word))
    return re.sub(_PARAMETER, "\0", "".join(parts))


def _referring(word: str, variables: dict[str, str], optional: Collection[str]) -> str:
    """Return the word with a reference, inside double quotes, for each parameter."""
    if (whole := re.fullmatch(_PARAMETER, word)) and whole[1] in optional:
        variable = variables[whole[1]]
        return f'${{{variable}+"${{{variable}}}"}}'
    text = ""
    for part in _PARTS.finditer(word):
        before, after = ("'\"", "\"'") if part["single"] else ("", "") if part["double"] else ('"', '"')
        for number, piece in enumerate(re.split(_PARAMETER, part[0])):  # every second piece is a name
            text += f"{before}${{{variables[piece]}-}}{after}" if number % 2 else piece
    return text


def _check_file(word: str) -> None:
    if "\0" in word and word != "\0" and "/dev/".startswith(word.partition("\0")[0][:5]):
        raise ManifestError("after < or > a value must be a separate word, or follow a folder: < ./{{name}}")


def _check_argument(word: str, before: Sequence[str]) -> None:
    """Check a word that follows these. Raises `ManifestError` where the program could run a value."""
    if not before and ("\0" in word or "=" in word):
        raise ManifestError(f"the program must be fixed, with no value in it and no assignment before it; {_FIX}")
    runner = None if (before and before[0] in _TEXT) or "://" in word else _RUNNERS.search(word)
    if runner or (not before and word in _SHELL_COMMANDS):
        raise ManifestError(f"{(runner[0] if runner else word)!r} can run what it is given; {_FIX}")
    if "\0" not in word or _options_ended(before):
        return
    if word.startswith("-"):
        option = _LONG_OPTION.match(word)
        code = option and _CODE_OPTION.search(option[0])
        if option is None or code:
            why = f", because of the word {code[0]!r}," if code else ""
            raise ManifestError(
                f"a value is part of the option {word.split(chr(0))[0]!r}, which{why} might run it; use a long option for data,"
                f" such as --file={{{{name}}}}, or {_FIX}"
            )
    elif before[-1].startswith("-") and before[-1] not in ("-", "--") and not _LONG_OPTION.match(before[-1]):
        raise ManifestError(
            f"a value follows the option {before[-1]!r}, which might run it; write --option={{{{name}}}}, or {_FIX}"
        )


def _options_ended(words: Sequence[str]) -> bool:
    """Whether one of the words is ``--`` and no option that might take it as its argument comes before it."""
    return any(word == "--" and not before.startswith("-") for before, word in pairwise(words))
