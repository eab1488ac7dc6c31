"""A small shell for machines without /bin/sh: it runs the scripts of lesson 12 in a browser tab and on Windows.

It reads words, quotes, ``$NAME`` and ``${NAME}``, ``$( … )`` and backticks, ``;``, ``&``, ``&&``, ``||``, ``|``, ``<``, ``>``,
``>>``, file names with ``*``, and runs a few programs (`PROGRAMS`) in a folder. It raises an error for anything else and
never guesses. A test compares it with the real shell.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from glob import escape, glob
from pathlib import Path
from typing import NamedTuple

_BLANK, _ENDS_WORD = " \t", " \t\n;&|<>()"
_CONNECTORS = ("&&", "||", ";", "&", "\n")
_KEYWORDS = frozenset("! { } case do done elif else esac fi for if in then until while".split())
_ASSIGNED = re.compile(r"[A-Za-z_]\w*(?==)", re.ASCII)
_NAMED = re.compile(r"\{([A-Za-z_]\w*)(?:(:?-)([\w./]*))?\}|([A-Za-z_]\w*|[?#1-9])", re.ASCII)
_MAGIC = re.compile(r"[*?[]")


class Unknown(Exception):
    """Raised for a part of a script that this shell does not support; the message names it."""


class BadSyntax(Exception):
    """Raised for a syntax error."""


class Part(NamedTuple):
    """A piece of a word: the literal `text`, the variable named in `text`, or the output of `script`, quoted or not."""

    kind: str
    text: str
    quoted: bool
    script: tuple[Step, ...] = ()


Word = list[Part]


@dataclass
class Command:
    """A simple command: its words, the variables set before them, and the files that it reads and writes."""

    words: list[Word] = field(default_factory=list)
    sets: list[tuple[str, Word]] = field(default_factory=list)
    files: list[tuple[str, Word]] = field(default_factory=list)


class Step(NamedTuple):
    """Commands joined by pipes, and the connector before them."""

    before: str
    commands: list[Command]


class Reader:
    """A parser that reads a script from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 0

    def script(self) -> list[Step]:
        """Read all lines."""
        steps = list[Step]()
        while self.at < len(self.text):
            steps += self.line()
        return steps

    def line(self, close: str = "") -> list[Step]:
        """Read up to the end of the line, or with `close` up to that character, across lines."""
        steps, before = list[Step](), ";"
        while True:
            self.blank("\n" if close else "")
            here = self.here()
            if here in ("", close, "\n"):
                if before in ("&&", "||") and steps:
                    raise (Unknown if here == "\n" else BadSyntax)(f"{before} at the end of a line")
                self.at += len(here)
                if here != close and close:
                    raise BadSyntax(f"{close} is missing")
                return steps
            steps.append(Step(before, self.pipe()))
            before = next((one for one in _CONNECTORS if self.text.startswith(one, self.at)), "")
            if not before and self.here() not in ("", close):
                raise BadSyntax(f"{self.here()!r} is not expected")
            if before != "\n" or close:
                self.at += len(before)
            before = before.replace("\n", ";").replace("&", ";") if len(before) == 1 else before or ";"

    def pipe(self) -> list[Command]:
        """Read commands separated by |."""
        commands = [self.command()]
        while self.here() == "|" and not self.text.startswith("||", self.at):
            self.at += 1
            self.blank("\n")
            commands.append(self.command())
        return commands

    def command(self) -> Command:
        """Read a simple command."""
        command = Command()
        while self.blank() or self.here() not in ("", *"\n;&|)"):
            begins, assigned = self.at, _ASSIGNED.match(self.text, self.at)
            if self.here() in "<>":
                sign = ">>" if self.text.startswith(">>", self.at) else self.here()
                self.at += len(sign)
                self.blank()
                if self.here() in (*"<>&|", "("):
                    raise Unknown(f"{sign}{self.here()}")
                command.files.append((sign, self.word()))
            elif self.here() == "(":
                raise BadSyntax("( behind a word") if command.words else Unknown("(")
            elif assigned and not command.words:
                self.at = assigned.end() + 1
                command.sets.append((assigned[0], self.word() if self.here() not in ("", *_ENDS_WORD) else []))
            else:
                command.words.append(self.word())
                raw = self.text[begins : self.at]
                if (raw in _KEYWORDS and len(command.words) == 1) or (raw.isdecimal() and self.here() in ("<", ">")):
                    raise Unknown(raw)
        if not (command.words or command.sets or command.files):
            raise BadSyntax("a command is missing")
        return command

    def word(self) -> Word:
        """Read one word, with all its quotes."""
        parts: Word = []
        if self.here() in ("", *_ENDS_WORD):
            raise BadSyntax("a word is missing")
        if self.here() == "~":
            raise Unknown("~")
        while (here := self.here()) and here not in _ENDS_WORD:
            if here == "'":
                parts.append(Part("text", self.until("'"), True))
            elif here == '"':
                self.at += 1
                parts.append(Part("text", "", True))
                while self.here() != '"':
                    parts.append(self.piece(True))
                self.at += 1
            else:
                parts.append(self.piece(False))
        return parts

    def piece(self, quoted: bool) -> Part:
        """Read a piece that is allowed both inside and outside double quotes."""
        here, after = self.here(), self.text[self.at + 1 : self.at + 2]
        if not here:
            raise BadSyntax('" is missing')
        if here == "\\" and after and (not quoted or after in '$`"\\\n'):
            self.at += 2
            return Part("text", after, True) if after != "\n" else Part("text", "", quoted)
        if here == "`":
            inside = self.until("`")
            if quoted and '\\"' in inside:
                raise Unknown('\\" in backticks')
            return Part("script", "", quoted, tuple(Reader(re.sub(r"\\([$`\\])", r"\1", inside)).script()))
        if self.text.startswith("$((", self.at):
            raise Unknown("$((")
        if here == "$" and after == "(":
            self.at += 2
            return Part("script", "", quoted, tuple(self.line(")")))
        if here == "$" and (named := _NAMED.match(self.text, self.at + 1)):
            self.at = named.end()
            told = f"{named[1]} {named[2] or '-'} {named[3] or ''}" if named[1] else f"{named[4]} - "
            return Part("variable", told, quoted)
        if here == "$" and after and (after in "{$!-@*0" or (after in "'\"" and not quoted)):
            raise Unknown(f"${after}")
        self.at += 1
        return Part("text", here, quoted)

    def until(self, quote: str) -> str:
        """Read from a quote to the next quote of the same kind."""
        end = self.at + 1
        while end < len(self.text) and self.text[end] != quote:
            end += 2 if self.text[end] == "\\" and quote == "`" else 1
        if end >= len(self.text):
            raise BadSyntax(f"{quote} is missing")
        inside, self.at = self.text[self.at + 1 : end], end + 1
        return inside

    def here(self) -> str:
        """Return the next character, or "" at the end."""
        return self.text[self.at : self.at + 1]

    def blank(self, more: str = "") -> None:
        """Skip blanks and a comment."""
        while self.here() and (self.here() in _BLANK + more or self.text.startswith("\\\n", self.at)):
            self.at += 1 + (self.here() == "\\")
        if self.here() == "#":
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
            if more:
                self.blank(more)


class Ran(NamedTuple):
    """The result of a script: its exit code and its output."""

    code: int
    printed: str


def run(script: str, variables: Mapping[str, str], folder: Path) -> Ran:
    """Run a script in a folder with these variables, an empty standard input, and no error output.

    Raises `Unknown` for unsupported syntax, after running the lines before it.
    """
    shell, reader, printed = Shell(dict(variables), folder), Reader(script), ""
    try:
        while reader.at < len(script):
            printed += shell.steps(reader.line())
    except BadSyntax:
        return Ran(2, printed)
    return Ran(shell.code, printed)


@dataclass
class Shell:
    """The current variables, the folder, and the exit codes of the last command and of its last $( … )."""

    variables: dict[str, str]
    folder: Path
    code: int = 0
    substituted: int = 0

    def steps(self, steps: tuple[Step, ...] | list[Step], given: str = "") -> str:
        """Run commands one after the other; return their output."""
        printed = ""
        for step in steps:
            if (step.before == "&&" and self.code) or (step.before == "||" and not self.code):
                continue
            if len(step.commands) == 1:
                printed += self.command(step.commands[0], given)
                continue
            flows = given
            for command in step.commands:
                part = self.copy()
                flows = part.command(command, flows)
            self.code = part.code
            printed += flows
        return printed

    def copy(self) -> Shell:
        """Return a separate shell, as each part of a pipe needs."""
        return Shell(dict(self.variables), self.folder, self.code)

    def command(self, command: Command, given: str) -> str:
        """Run one command with `given` as its input; return its output."""
        self.substituted = 0
        words = [field for word in command.words for field in self.fields(word)]
        target: Path | None = None
        for sign, word in command.files:
            name = "".join(text for text, _ in self.parts(word))
            try:
                if sign == "<":
                    given = read(self.path(name))
                else:
                    target = self.path(name)
                    target.open("ab" if sign == ">>" else "wb").close()
            except OSError:
                self.code = 2
                return ""
        kept, self.variables = self.variables, dict(self.variables)
        for name, word in command.sets:
            self.variables[name] = "".join(text for text, _ in self.parts(word))
        if not words:
            self.code = self.substituted
            return ""
        name, *arguments = words
        printed = self.call(name, arguments, given)
        if name not in (":", "export"):
            self.variables = kept
        if target is not None:
            with target.open("ab") as file:
                file.write(printed.encode(errors="surrogateescape"))
            return ""
        return printed

    def call(self, name: str, arguments: list[str], given: str) -> str:
        """Run a builtin or another program."""
        if "/" in name or name in _OTHERS:
            raise Unknown(name)
        found = name in BUILT_IN or {"/bin", "/usr/bin"} & set(self.variables.get("PATH", "").split(":"))
        if name not in PROGRAMS or not found:
            self.code = 127
            return ""
        if name == "export":
            self.variables |= dict(word.split("=", 1) for word in arguments if "=" in word)
        self.code, printed = PROGRAMS[name](self, arguments, given)
        return printed

    def parts(self, word: Word) -> list[tuple[str, bool]]:
        """Return the pieces of a word as strings, and whether each can be split."""
        came = []
        for part in word:
            text = part.text
            if part.kind == "variable":
                name, sign, otherwise = text.split(" ")
                text = (self.variables | {"?": str(self.code), "#": "0"}).get(name, otherwise)
                text = text or otherwise if sign == ":-" else text
            elif part.kind == "script":
                inner = self.copy()
                text = inner.steps(part.script).rstrip("\n")
                self.substituted = inner.code
            came.append((text, part.kind != "text" and not part.quoted))
        return came

    def fields(self, word: Word) -> list[str]:
        """Expand a word: split unquoted values and insert matching file names."""
        fields: list[list[tuple[str, bool]]] = []
        open_ = False
        for part, (text, splits) in zip(word, self.parts(word), strict=True):
            for number, piece in enumerate(re.split(r"[ \t\n]+", text) if splits else [text]):
                open_ = open_ and number == 0
                if piece or not splits:
                    fields += [] if open_ else [[]]
                    fields[-1].append((piece, part.quoted))
                    open_ = True
        return [name for one in fields for name in self.names(one)]

    def names(self, one: list[tuple[str, bool]]) -> list[str]:
        """Return the files that match a field, or the field itself if none match."""
        plain, bare = "".join(text for text, _ in one), "".join(text for text, quoted in one if not quoted)
        if not _MAGIC.search(bare):
            return [plain]
        if "\\" in bare or "/" in plain:
            raise Unknown(plain)
        pattern = "".join(escape(text) if quoted else text for text, quoted in one)
        return sorted(glob(pattern, root_dir=self.folder)) or [plain]

    def path(self, name: str) -> Path:
        """Return the path of a file in the folder. Raises `OSError` for an impossible file name."""
        if name == "/dev/null":
            return Path(name)
        if "/" in name or name == "..":
            raise Unknown(f"the file {name}")
        if not name:
            raise FileNotFoundError(name)
        return self.folder / name


def read(path: Path) -> str:
    """Return the content of a file."""
    return path.read_bytes().decode(errors="surrogateescape")


def _cat(shell: Shell, names: list[str], given: str) -> tuple[int, str]:
    code, printed = 0, ""
    for name in _without_options("cat", names) or ["-"]:
        try:
            printed += given if name == "-" else read(shell.path(name))
        except OSError:
            code = 1
    return code, printed


def _touch(shell: Shell, names: list[str], _: str) -> tuple[int, str]:
    code = int(not names)
    for name in _without_options("touch", names):
        if name == "-":
            raise Unknown("touch -")
        try:
            shell.path(name).touch()
        except OSError:
            code = 1
    return code, ""


def _rm(shell: Shell, names: list[str], _: str) -> tuple[int, str]:
    forced = names[:1] == ["-f"]
    names = _without_options("rm", names[forced:])
    code = int(not names and not forced)
    for name in names:
        try:
            shell.path(name).unlink(missing_ok=forced)
        except OSError:
            code = 1
    return code, ""


def _date(_: Shell, arguments: list[str], __: str) -> tuple[int, str]:
    if len(arguments) != 1 or not re.fullmatch(r"\+(%[YmdHMS]|[^%])*", arguments[0]):
        raise Unknown(f"date {' '.join(arguments)}")
    return 0, time.strftime(arguments[0][1:]) + "\n"


def _echo(_: Shell, arguments: list[str], __: str) -> tuple[int, str]:
    if arguments[:1] == ["-n"] or any("\\" in one for one in arguments):
        raise Unknown("echo with -n or \\, which is not the same in every shell; use printf '%s\\n'")
    return 0, " ".join(arguments) + "\n"


def _printf(_: Shell, arguments: list[str], __: str) -> tuple[int, str]:
    arguments = _without_options("printf", arguments)
    if not arguments:
        return 2, ""
    form, *values = arguments
    pieces = re.findall(r"%.?|\\.?|[^%\\]+", form, re.S)
    if unknown := [one for one in pieces if one[0] in "%\\" and one not in _FORMS]:
        raise Unknown(f"printf {unknown[0]}")
    printed = ""
    while True:
        for piece in pieces:
            printed += (values.pop(0) if values else "") if piece == "%s" else _FORMS.get(piece, piece)
        if not values or "%s" not in pieces:
            return 0, printed


def _without_options(program: str, words: list[str]) -> list[str]:
    if words[:1] == ["--"]:
        return words[1:]
    options = [one for one in (words[:1] if program == "printf" else words) if one.startswith("-") and one != "-"]
    if options:
        raise Unknown(f"{program} {options[0]}")
    return words


_FORMS = {"%s": "", "%%": "%", "\\n": "\n", "\\t": "\t", "\\\\": "\\"}
_OTHERS = frozenset(  # programs of a real system that this shell lacks
    """. [ [[ awk base64 basename bash break cd command continue cp cut dash dirname env eval exec exit expr find grep head
    ls mkdir mv od perl pwd python python3 read readonly return sed set sh shift sleep sort source tail tee test tr trap type
    umask uniq unset wait wc xargs xxd local declare function""".split()
)
Program = Callable[[Shell, list[str], str], tuple[int, str]]
PROGRAMS: Mapping[str, Program] = {
    ":": lambda *_: (0, ""),
    "true": lambda *_: (0, ""),
    "false": lambda *_: (1, ""),
    "export": lambda *_: (0, ""),
    "echo": _echo,
    "printf": _printf,
    "cat": _cat,
    "touch": _touch,
    "rm": _rm,
    "date": _date,
}
BUILT_IN = frozenset({":", "true", "false", "export", "echo", "printf"})
