"""Programs that take an argument, or what they are told, for code: there a value would be run, however well it is quoted.

No list of programs is ever complete: whoever writes a manifest and hands ``{{name}}`` to a program that is not here, and
that runs what it is given, has to know it. `quoting` keeps the shell itself from running a value, whatever the program.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

MEND = "write it into a script file of its own, and call that with {{name}} as an argument"

_INTERPRETER = re.compile(
    r"(ba|da|a|k|mk|z|fi)?sh|(python|pypy|perl|ruby|node|nodejs|php|lua|tclsh|Rscript|osascript)[\d.]*"
)
_FLAGS, _CODE = re.compile(r"-[uBnsE]+"), re.compile(r"-[A-Za-z]*[cer]|--(eval|command|print)|-m")
_RUN_THE_NEXT = frozenset(
    {"exec", "command", "builtin", "env", "nice", "nohup", "setsid", "time", "timeout", "busybox"}
)
_TAKE_CODE = frozenset(
    """sudo su doas ssh rsh xargs parallel watch make gmake script at batch crontab gdb expect ed ex vi vim emacs flock chroot
    nsenter strace socat screen tmux m4 bc dc sed gsed awk gawk mawk nawk jq sqlite3 eval . source trap let alias unset read
    getopts mapfile readarray enable bind fc hash complete compgen npx uvx pipx""".split()
)
_CODE_OPTIONS = {  # what behind these options is run; glued to them, it is too
    "psql": r"-[A-Za-z]*[co]|--(command|output)",
    "mysql": r"-[A-Za-z]*e|--(execute|init-command|pager)",
    "mariadb": r"-[A-Za-z]*e|--(execute|init-command|pager)",
    "git": r"-c|--(upload-pack|receive-pack|exec|config)",
    "tar": r"-?[A-Za-z]*[IFf]|--(file|to-command|use-compress-program|checkpoint-action|info-script|rsh-command)",
    "rsync": r"-[A-Za-z]*e|--(rsh|rsync-path)",
    "sort": r"--compress-program",
    "test": r"-v",
    "[": r"-v",
}
_CLIENTS = frozenset({"psql", "mysql", "mariadb", "sqlite3"})  # they run what they are told, too
_EXPORTS = frozenset({"export", "readonly", "local", "declare", "typeset"})
_SETTINGS = re.compile(
    r"(PATH|IFS|ENV|SHELL|PS[0-4]|CDPATH|HOME|EDITOR|VISUAL|PAGER|PSQLRC|SHELLOPTS|PROMPT_COMMAND)$"
    r"|(LD|DYLD|BASH|PYTHON|PERL|RUBY|NODE|GIT|JAVA|LESS|PSQL)"
)


@dataclass
class Word:
    """One word of a command, as far as it is fixed.

    `text` is its fixed text without its quotes, and `open` says that a value or a variable is put in; `first` are the
    parameters at its very beginning, `alone` the one that is all of it, `names` all of them. `assigns` is the variable
    that the word sets, and `group` stands for commands in parentheses.
    """

    assigns: str = ""
    text: str = ""
    open: bool = False
    quoted: bool = False
    group: bool = False
    alone: str = ""
    first: set[str] = field(default_factory=set)
    names: set[str] = field(default_factory=set)
    variables: set[str] = field(default_factory=set)

    def say(self, text: str) -> None:
        """Fixed text comes next."""
        self.text += text
        self.alone = ""

    def hold(self, name: str) -> None:
        """The value of a parameter comes next."""
        self.alone = "" if self.open or self.text else name
        self.open = True
        self.names.add(name)
        if not self.text:
            self.first.add(name)

    def vary(self, variable: str = "") -> None:
        """A variable comes next, or what a command prints."""
        self.open, self.alone = True, ""
        self.variables.add(variable)


@dataclass
class Command:
    """A simple command: its words, and what it sets before them.

    `fed` says that values may be in what it reads: it stands behind a pipe, or its here document holds one.
    """

    words: list[Word] = field(default_factory=list)
    assignments: list[Word] = field(default_factory=list)
    fed: bool = False


def why_unsafe(command: Command) -> str | None:
    """Say why a value could choose what is run by `command`, or return None where it can't."""
    for word in command.assignments:
        if word.open and _SETTINGS.match(word.assigns) and (word.names or word.variables - {word.assigns}):
            return f"{word.assigns} decides what programs do, so no value can be put into it; {MEND}"
    if not command.words or command.words[0].group:
        return None
    return _of_program(command.words, command.fed)


def _of_program(words: Sequence[Word], fed: bool) -> str | None:
    if words[0].open:
        return f"what is run has to be fixed, so no value can be part of a command's name; {MEND}"
    program, arguments = words[0].text.rpartition("/")[2], words[1:]
    if program in _RUN_THE_NEXT:
        return _of_the_next(program, arguments, fed)
    if _INTERPRETER.fullmatch(program):
        return _of_interpreter(program, arguments)
    if program in _TAKE_CODE and any(word.open for word in arguments):
        return (
            f"{program} takes its arguments for code, or for what it is to run, so no value can be among them; {MEND}"
        )
    if program in _CLIENTS and fed:
        return f"{program} runs what it is told, and a value may be in that; give it a file: {program} … < {{{{name}}}}"
    if program in _EXPORTS:
        return _of_export(program, arguments)
    sets = program in ("for", "read", "printf") and any(_SETTINGS.match(word.text) for word in arguments[:2])
    if sets or (program == "printf" and arguments and arguments[0].text == "-v"):
        return f"{program} sets a variable of meaning to other programs, in a tool with parameters; {MEND}"
    if program == "find":
        runs = [place for place, word in enumerate(arguments) if re.fullmatch("-(exec|ok)(dir)?", word.text)]
        inside = bool(runs) and any(word.open for word in arguments[runs[0] :])
        return f"find runs what stands behind -exec, so no value can be there; {MEND}" if inside else None
    return _of_options(program, arguments) if program in _CODE_OPTIONS else None


def _of_the_next(program: str, arguments: Sequence[Word], fed: bool) -> str | None:
    """A program that runs the command behind it: before that stand numbers and settings."""
    for place, word in enumerate(arguments):
        setting = re.match(r"([A-Za-z_]\w*)=", word.text, re.ASCII)
        if setting and word.open and _SETTINGS.match(setting[1]):
            return f"{setting[1]} decides what programs do, so no value can be put into it; {MEND}"
        if setting or (not word.open and re.fullmatch(r"-n|[\d.]+[smhd]?", word.text)):
            continue
        if word.text.startswith("-") and any(other.open for other in arguments[place:]):
            return f"the options of {program} in a tool with parameters can't be read; {MEND}"
        return _of_program(arguments[place:], fed)
    return None


def _of_interpreter(program: str, arguments: Sequence[Word]) -> str | None:
    """Its code, or its script, has to be fixed; what stands behind that are arguments, and may be anything."""
    coded = False
    for word in arguments:
        if word.open:
            break
        if coded or (word.text and word.text[0] not in "-+"):
            return None
        coded = _CODE.fullmatch(word.text) is not None
        if not (coded or _FLAGS.fullmatch(word.text)):
            break
    return f"{program} runs what it is given, so that has to be fixed: name a script, and give it values behind that"


def _of_export(program: str, arguments: Sequence[Word]) -> str | None:
    for word in arguments:
        setting = re.match(r"([A-Za-z_]\w*)=", word.text, re.ASCII)
        option = word.text.startswith("-") and any(other.open for other in arguments)
        if option or (word.open and (setting is None or _SETTINGS.match(setting[1]))):
            return f"{program} sets a variable, which has to be fixed and of no meaning to other programs; {MEND}"
    return None


def _of_options(program: str, arguments: Sequence[Word]) -> str | None:
    option, before = re.compile(_CODE_OPTIONS[program]), ""
    for word in arguments:
        glued = re.match(rf"({_CODE_OPTIONS[program]})", word.text) is not None
        if word.open and (glued or option.fullmatch(before)):
            return f"{program} {before if not glued else word.text} runs what it is given, so no value can be there; {MEND}"
        before = word.text
    return None
