"""From a script with ``{{name}}`` in it to one that can be run: each becomes a reference to a variable, quoted as its place asks.

A value never becomes part of the script. It waits in a variable of the environment, and the shell puts it where its
reference stands, after the script has been read: what the value holds is then neither split, nor expanded, nor run. For
that the reference has to be right for where it stands (bare, in double quotes, in single quotes, in ``$( … )``, in a here
document), so the script is read as POSIX's shell reads it. What can't be made safe is refused when the manifest is read;
`programs` says which programs take an argument for code.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from planexec_lite.gantz.programs import MEND, Command, Word, why_unsafe

_PLACE = re.compile(r"\{\{\s*([A-Za-z_][\w-]*)\s*\}\}", re.ASCII)
_FIRST_MARK = 0xE000  # a place is read as one character that no script has, of those for private use
_MARK = re.compile(r"[\ue000-\uf8ff]")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=", re.ASCII)
_VARIABLE = re.compile(r"\$(\{(?:[A-Za-z_]\w*|[0-9@*?#$!-])\}|[A-Za-z_]\w*|[0-9@*?#$!-])", re.ASCII)
_OPERATOR = re.compile(r"<<<|<<-?|<&|>&|<>|>>|>\||<|>")
_BLANK, _ENDS_WORD = " \t", " \t\n;&|()<>"
_GOES_ON = frozenset({"if", "then", "else", "elif", "while", "until", "do", "!", "{"})  # a command may follow
_REFUSED = frozenset({"case", "select", "function", "coproc", "[["})
_NUMBERS = "?#$!"  # $? and the like hold a number, so nothing is split


class QuotingError(ValueError):
    """A place in a script at which no value can be made safe."""


@dataclass(frozen=True)
class Script:
    """A script that can be run, with what its values may not be.

    `text` is what the shell reads, and `variables` says in which variable it expects the value of which parameter.
    `leading` are the parameters whose value a program might take for an option if it began with "-", and `files` those
    that name a file that the shell opens.
    """

    text: str
    variables: dict[str, str] = field(default_factory=dict)
    leading: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()


def placed(script: str, names: Sequence[str], optional: Collection[str] = ()) -> Script:
    """Return `script` with a reference for each ``{{name}}`` of `names`. Without any, the script stays as it is.

    Args:
        names: the parameters. Other text in double braces stays what it is, unless it looks like a parameter's name.
        optional: those of them that may be missing. One that stands alone then is no argument at all.

    Raises `QuotingError` where a value would become code, or might be split into words.
    """
    used = dict.fromkeys(match[1] for match in _PLACE.finditer(script))
    if unknown := [name for name in used if name not in names]:
        known = ", ".join(names) or "none"
        raise QuotingError(f"the script names {{{{{unknown[0]}}}}}, and that is no parameter; there are: {known}")
    if unused := [name for name in names if name not in used]:
        raise QuotingError(f"the script never uses {{{{{unused[0]}}}}}; use the parameter, or leave it out")
    if not used:
        return Script(script)
    if _MARK.search(script):
        raise QuotingError("the script holds a character for private use, such as \\ue000; leave it out")
    marks = {name: chr(_FIRST_MARK + number) for number, name in enumerate(used)}
    reader = _Reader(_PLACE.sub(lambda match: marks[match[1]], script), list(used), frozenset(optional))
    reader.commands()
    variables = {name: reader.variable(name) for name in used}
    return Script("".join(reader.out), variables, frozenset(reader.leading), frozenset(reader.files))


class _Body(NamedTuple):
    """A here document whose text is still to come: the word that ends it, whether tabs before it count, whose it is."""

    end: str
    tabs: bool
    quoted: bool
    command: Command


class _Reader:
    """Reads a script once, from left to right, and writes down what is to be run instead."""

    def __init__(self, text: str, names: Sequence[str], optional: frozenset[str]) -> None:
        self.text, self.names, self.optional = text, names, optional
        self.at = 0
        self.out: list[str] = []
        self.leading: set[str] = set()
        self.files: set[str] = set()
        self.bodies: list[_Body] = []  # here documents whose text is still to come
        self.piped = False

    def variable(self, name: str) -> str:
        return f"gantz_value_{self.names.index(name) + 1}"

    def commands(self, close: str = "") -> None:
        """Read commands up to the end, or up to the closing parenthesis `close`."""
        if close and self.bodies:
            raise QuotingError(f"a here document stands before a (; {MEND}")
        command = self._command()
        while (here := self._blank()) not in ("", close):
            if here == "\n":
                self._end(command)
                self._emit(1)
                self._here_documents()
                command = self._command()
            elif here in ";&|":
                self._end(command)
                self._operator()
                command = self._command()
            elif here == "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            elif here == "(":
                self._group(command)
            elif here == ")":
                raise QuotingError(f"a ) has no (; {MEND}")
            elif here in "<>":
                self._redirection(command)
            else:
                self._add(command, self._word(may_assign=not command.words))
        if here != close or self.bodies:
            raise QuotingError(f"a ( has no ), or a here document no text; {MEND}")
        self._end(command)

    def _command(self) -> Command:
        return Command(fed=self.piped)

    def _operator(self) -> None:
        sign = self.text[self.at : self.at + 2]
        if sign == "|&":
            raise QuotingError("|& is not the same in every shell; write 2>&1 |")
        self.piped = self.piped or (sign[0] == "|" and sign != "||")
        self._emit(2 if sign in ("&&", "||", ";;") else 1)

    def _end(self, command: Command) -> None:
        if problem := why_unsafe(command):
            raise QuotingError(problem)
        for word in (*command.assignments, *command.words):
            if word.text == "--" and not word.open:
                break  # behind it no argument is taken for an option
            self.leading |= word.first

    def _add(self, command: Command, word: Word) -> None:
        if self._here() in ("<", ">") and word.text.isdecimal() and not word.open and not word.quoted:
            return  # the number of what is redirected
        keyword = not (command.words or word.assigns or word.quoted or word.open)
        if keyword and word.text in _REFUSED:
            raise QuotingError(f"{word.text!r} in a tool with parameters can't be made safe; {MEND}")
        if not (keyword and word.text in _GOES_ON):
            (command.assignments if word.assigns else command.words).append(word)

    def _word(self, may_assign: bool = False) -> Word:
        """Read one word, with all its quotes, and write it down."""
        begins, word, braces = len(self.out), Word(), False
        if may_assign and (assigned := _ASSIGNED.match(self.text, self.at)):
            word.assigns = assigned[0][:-1]
            self._emit(len(assigned[0]))
        while (here := self._here()) and here not in _ENDS_WORD:
            if here == "'":
                self._single(word)
            elif here == '"':
                self._emit(1)
                word.quoted = True
                self._double(word, '"')
                self._emit(1)
            elif here == "\\":
                self._escape(word)
            elif here == "$":
                self._dollar(word, bare=not word.assigns)
            elif here == "`":
                raise QuotingError(f"backticks in a tool with parameters can't be made safe; write $( … ), or {MEND}")
            elif _MARK.match(here):
                self._place(word, '"${', '-}"')
            else:
                braces = braces or here == "{"
                word.say(here)
                self._emit(1)
        if braces and word.open:
            raise QuotingError("{ in a word with a value is not the same in every shell; put it in quotes")
        if word.alone and word.alone in self.optional and not word.quoted and not word.assigns:
            variable = self.variable(word.alone)
            self.out[begins:] = [f'${{{variable}+"${{{variable}}}"}}']
        return word

    def _single(self, word: Word) -> None:
        end = self.text.find("'", self.at + 1)
        if end < 0:
            raise QuotingError(f"a ' is never closed; {MEND}")
        word.quoted = True
        for part in re.split(r"([\ue000-\uf8ff])", self.text[self.at + 1 : end]):
            if part and _MARK.match(part):
                name = self._name(part)
                word.hold(name)
                self.out.append(f'"${{{self.variable(name)}-}}"')
            elif part:
                word.say(part)
                self.out.append(f"'{part}'")
        self.out.append("''" if end == self.at + 1 else "")
        self.at = end + 1

    def _double(self, word: Word, close: str) -> None:
        """Read what stands in double quotes, or in a here document, which ends where the text does."""
        while (here := self._here()) != close:
            if not here:
                raise QuotingError(f'a " is never closed; {MEND}')
            if here == "\\":
                self._escape(word)
            elif here == "$":
                self._dollar(word, bare=False)
            elif here == "`":
                raise QuotingError(f"backticks in a tool with parameters can't be made safe; write $( … ), or {MEND}")
            elif _MARK.match(here):
                self._place(word, "${", "-}")
            else:
                word.say(here)
                self._emit(1)

    def _escape(self, word: Word) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if not after or _MARK.match(after):
            raise QuotingError(f"a \\ stands before {self._shown(after)}; leave it out")
        word.say("" if after == "\n" else after)
        word.quoted = True
        self._emit(2)

    def _dollar(self, word: Word, bare: bool) -> None:
        after = self.text[self.at + 1 : self.at + 2]
        if _MARK.match(after):
            raise QuotingError(f"a $ stands before {self._shown(after)}; write \\$ in double quotes, or leave it out")
        if after == "(":
            self._substitution(word, bare)
        elif bare and after in ("'", '"'):
            raise QuotingError(f"${after} is not the same in every shell; {MEND}")
        elif named := _VARIABLE.match(self.text, self.at):
            name = named[1].strip("{}")
            if bare and name not in _NUMBERS:
                raise QuotingError(f'${name} would be split into words: write "${name}" in a tool with parameters')
            word.vary(name)
            self._emit(len(named[0]))
        elif after == "{":
            raise QuotingError(f"only ${{name}} can stand in a tool with parameters, and no rule in it; {MEND}")
        else:
            word.say("$")
            self._emit(1)

    def _substitution(self, word: Word, bare: bool) -> None:
        if self.text.startswith("$((", self.at):
            raise QuotingError(f"arithmetic in a tool with parameters can't be made safe; {MEND}")
        at = self.at
        self._emit(2)
        self.commands(")")
        self._emit(1)
        inside = self.text[at + 2 : self.at]
        word.vary()
        if bare and (_MARK.search(inside) or re.search(r"\$[A-Za-z_{@*0-9]", inside)):
            raise QuotingError(f'{self._shown(inside)} would be split into words: write "$( … )", in double quotes')

    def _place(self, word: Word, before: str, after: str) -> None:
        name = self._name(self._here())
        word.hold(name)
        self.out.append(before + self.variable(name) + after)
        self.at += 1

    def _group(self, command: Command) -> None:
        if command.words or command.assignments or self.text.startswith("((", self.at):
            raise QuotingError(f"functions, lists and arithmetic in a tool with parameters can't be made safe; {MEND}")
        self._emit(1)
        self.commands(")")
        self._emit(1)
        command.words.append(Word(text="( … )", group=True))

    def _redirection(self, command: Command) -> None:
        operator = _OPERATOR.match(self.text, self.at)
        sign = operator[0] if operator else ""
        self._emit(len(sign))
        if self._blank() in ("", "\n", "(", *";&|"):
            raise QuotingError(f"{sign} has no file behind it that can be read; {MEND}")
        if sign == "<<<":
            raise QuotingError("<<< is not the same in every shell; use a here document, <<END")
        at, word = self.at, self._word()
        if sign in ("<<", "<<-"):
            if word.open:
                raise QuotingError("the end of a here document can't hold a value; use a word, such as END")
            self.bodies.append(_Body(word.text, sign == "<<-", word.quoted, command))
        elif word.open and sign in ("<&", ">&"):
            raise QuotingError(f"behind {sign} no value can be made safe; name a file, behind < or >")
        elif word.alone in self.optional and word.alone:
            raise QuotingError(f"{self._shown(self.text[at])} names a file, so it must be required, or have a default")
        else:
            self.files |= word.names

    def _here_documents(self) -> None:
        for end, tabs, quoted, command in self.bodies:
            lines: list[str] = []
            while True:
                if self.at >= len(self.text):
                    raise QuotingError(f"the here document {end!r} never ends; {MEND}")
                line, _, _ = self.text[self.at :].partition("\n")
                self.at += len(line) + 1
                lines.append(line)
                if (line.lstrip("\t") if tabs else line) == end:
                    break
            self._body("\n".join(lines[:-1]), quoted, command)
            self.out.append(("\n" if len(lines) > 1 else "") + lines[-1] + "\n")
        self.bodies.clear()

    def _body(self, body: str, quoted: bool, command: Command) -> None:
        if not _MARK.search(body):
            self.out.append(body)
            return
        if quoted:
            raise QuotingError("in a here document whose end is quoted nothing is put in; write <<END, without quotes")
        if re.search(r"\\$", body, re.M):
            raise QuotingError(f"a line of a here document ends with \\; {MEND}")
        word = Word()
        inner = _Reader(body, self.names, self.optional)
        inner._double(word, "")
        self.out += inner.out
        self.leading |= inner.leading
        self.files |= inner.files
        command.fed = True
        if problem := why_unsafe(command):
            raise QuotingError(problem)

    def _here(self) -> str:
        return self.text[self.at : self.at + 1]

    def _emit(self, count: int) -> None:
        self.out.append(self.text[self.at : self.at + count])
        self.at += count

    def _blank(self) -> str:
        """Go past blanks and broken lines, and return the character that stands there; "" at the end."""
        while (here := self._here()) and (here in _BLANK or self.text.startswith("\\\n", self.at)):
            self._emit(1 if here in _BLANK else 2)
        return here

    def _name(self, mark: str) -> str:
        return self.names[ord(mark) - _FIRST_MARK]

    def _shown(self, text: str) -> str:
        return _MARK.sub(lambda match: f"{{{{{self._name(match[0])}}}}}", text) or "the end"
