"""Puts a reference to an environment variable where a script has ``{{name}}``, or refuses the script.

A value never becomes part of a script. It is in an environment variable, ``GANTZ_ARG_NAME`` as gantz itself calls it, and the
script refers to it inside double quotes. A script with references is read command by command. A value can travel through
arguments, pipes, variables, ``$(…)`` and files; `words` checks that the script never executes it. Everything that this reader
does not know is refused, such as functions, ``[[``, ``((`` and backticks.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from planexec_lab.gantz.words import DERIVED, NUMBERS, TEXTS, UNKNOWN, Checks, ManifestError, has_value, unsafe

PARAMETER = r"\{\{\s*([A-Za-z_][A-Za-z0-9_-]*)\s*\}\}"
_ENDS = r"(?=[\s;|&)]|\Z)"  # the end of a word
_PRIVATE = re.compile(r"(?=.*[a-z])(?!.*[A-Z]|.*proxy\Z)")  # variables that no other program reads


@dataclass(frozen=True)
class Script:
    """A script or command that can be run.

    `text` is the shell's input, or None for a command of `arguments`; `stdin` is its input. `variables` maps each parameter to its
    environment variable, and `rules` to what a value must not match (`words.RULES`).
    """

    text: str | None
    arguments: tuple[str, ...]
    stdin: str
    variables: Mapping[str, str]
    rules: Mapping[str, frozenset[str]]


def prepare(
    script: str | Sequence[str], kinds: Mapping[str, str], optional: Collection[str] = (), stdin: str = ""
) -> Script:
    """Return `script`, the shell's input or the words of a command, with what it needs to be safe.

    Args:
        kinds: the parameters, and the type of each.
        optional: the parameters that can be missing. A missing parameter that is a whole word of a shell script is dropped.
        stdin: the input of the script.

    Raises `ManifestError` where a value could become code.
    """
    text, words = (script, ()) if isinstance(script, str) else (None, tuple(script))
    written = "\n".join((text or "", *words, stdin))
    for name in re.findall(PARAMETER, written):
        if name not in kinds:
            known = ", ".join(kinds) or "none"
            raise ManifestError(f"the script names {{{{{name}}}}}, which is not a parameter; there are: {known}")
    if other := re.search(r"\{\{(?!\.)[^{}]*\}\}|[\x01\x02\ue000-\uf8ff]", re.sub(PARAMETER, "", written)):
        raise ManifestError(f"{other[0]!r} is neither a parameter nor text that is read here; gantz has no conditions")
    variables = {name: "GANTZ_ARG_" + re.sub(r"\W", "_", name.upper()) for name in kinds}
    first = {kind: TEXTS if kind in ("string", "array", "object") else NUMBERS for kind in kinds.values()}
    marks = {name: chr(first[kind] + at) for at, (name, kind) in enumerate(kinds.items())}
    checks = Checks(list(kinds))
    reads = has_value("".join(marks[name] for name in re.findall(PARAMETER, stdin)))
    if text is None:
        checks.command([re.sub(PARAMETER, lambda one: marks[one[1]], word) for word in words], reads)
    elif reads or re.search(f"{PARAMETER}|GANTZ_ARG_", text):
        contents = {variables[name]: marks[name] for name in kinds}
        text = _Reader(text.strip(), marks, variables, optional, checks, contents).read(reads)
    return Script(text, words, stdin, variables, {name: frozenset(rules) for name, rules in checks.rules.items()})


@dataclass
class _Reader:
    """Reads a script, and writes it with references."""

    text: str
    marks: Mapping[str, str]
    variables: Mapping[str, str]
    optional: Collection[str]
    checks: Checks
    known: dict[str, str]  # the shell's variables: what each contains, as a character of a word
    at: int = 0
    out: list[str] = field(default_factory=list)
    reads: bool = False  # whether each further command can read a value
    splits: bool = False  # whether the shell could split a value of the current command
    here: tuple[int, int, str] | None = None  # the text of <<END: its place, its end, and what is written for it

    def read(self, reads: bool) -> str:
        """Read all, again until no more variables have a value, and return what is written."""
        while True:
            self.at, self.out, self.reads, before = 0, [], reads or "" in self.known, dict(self.known)
            self.checks.touched.clear()
            self.commands()
            if re.search(PARAMETER, text := "".join(self.out)):
                raise unsafe("a parameter can't follow a backslash")
            if self.known == before:
                return text

    def commands(self, closing: str = "") -> bool:
        """Read commands to the end, or to `closing`; return whether a value can be in what they write."""
        written = piped = False
        while True:
            self.space()
            if self.at == len(self.text) or (closing and self.text.startswith(closing, self.at)):
                if self.here or (closing and not self.take(re.escape(closing))):
                    raise unsafe("the script ends too early")
                return written
            loop = self.take(r"for[ \t]+(\w+)[ \t]+in\b")
            if loop or self.take(r"(?:if|then|elif|else|while|until|do|!|\{)(?=\s)|case[ \t]+(?=\S+\s+in\b)"):
                self.reads |= piped
                if self.out[-1].startswith("case"):
                    self.word()
                    self.expect(r"\s+in\b")
                    self.pattern()
                while loop and self.take(r"(?:[ \t]|\\\n)+") and (word := self.word()) is not None:
                    self.assign(loop[1], word)
                continue
            ended = self.take(rf"(?:fi|done|esac|\}}){_ENDS}") is not None
            made = self.command(piped or self.reads) or (ended and written)
            if self.take(r"\|(?!\|)"):
                piped = made
                continue
            written, piped = written or made, False
            if self.take(";;"):
                self.pattern()
            elif self.at < len(self.text) and not self.text.startswith(closing or "\n", self.at):
                self.expect(r"&&|\|\||;|\n")

    def command(self, reads: bool) -> bool:
        """Read one command, with its redirections."""
        words: list[str] = []
        writes: list[str] = []
        self.splits = file = here = False
        while True:
            self.take(r"(?:[ \t]|\\\n)+")
            self.take(r"(?<=\s)#[^\n]*", silent=True)
            if redirection := self.take(r"[0-9]?(?:>>?|<)(?![<>&(])[ \t]*"):
                name = self.word()
                if name is None or name == DERIVED:
                    raise unsafe("text made of a value can't be the name of a file, and a file needs a name")
                self.checks.file(name)
                if "<" in redirection[0]:
                    file, reads = file or has_value(name), reads or self.checks.is_touched(name)
                else:
                    writes.append(name)
            elif end := self.take(r"<<(-?)[ \t]*(['\"]?)(\w+)\2", silent=True):
                here |= self.text_until(end[3], quoted=end[2] != "", tabs=end[1])
            elif not self.take(r"[0-9]?>&[0-9-]"):
                if (word := self.word()) is None:
                    break
                words.append(word)
        while words and (assigned := re.match(r"([A-Za-z_]\w*)=", words[0])):
            word = words.pop(0)
            self.assign(assigned[1], word[assigned.end() :], alone=not words)
        if words and self.splits and words[0] != "echo":
            raise unsafe('a variable or $(…) with a value must be in double quotes: "$name"')
        for name in words[1:] if words[:1] == ["read"] else ():
            if name[0] != "-":
                self.assign(name, DERIVED if reads or here or file else UNKNOWN)
        if not words:  # what a loop or a group before it reads
            self.known |= {"": DERIVED} if file or here else {}
            self.checks.touch(writes)
            return file or here
        return self.checks.command(words, reads or here, file and words[0] != "psql", writes)

    def word(self) -> str | None:
        """Read a word, and return it as `words` has it, or None if there is none."""
        word, start, quoted, brace = "", self.at, False, False
        whole = re.compile(PARAMETER + _ENDS).match(self.text, self.at)
        if whole and whole[1] in self.optional:
            self.at, name = whole.end(), self.variables[whole[1]]
            self.out.append(f'${{{name}+"${{{name}}}"}}')
            return self.marks[whole[1]]
        while self.at < len(self.text):
            if self.take('"'):
                quoted = not quoted
            elif value := self.take(PARAMETER, silent=True):
                quote = "" if quoted else '"'
                self.out.append(f"{quote}${{{self.variables[value[1]]}-}}{quote}")
                word += self.marks[value[1]]
            elif not quoted and (single := self.take(r"'([^']*)'", silent=True)):
                self.out.append(re.sub(PARAMETER, lambda one: f"'\"${{{self.variables[one[1]]}-}}\"'", single[0]))
                word += re.sub(PARAMETER, lambda one: self.marks[one[1]], single[1])
            elif escaped := self.take(r"\\(.)"):
                kept = quoted and escaped[1] not in '"\\$`'  # the backslash
                word += "" if escaped[1] == "\n" else escaped[0] if kept else escaped[1]
            elif plain := self.take(
                r"\$(?![\w{(?$#!*@-])|[^\"\\$`{]+|\{(?!\{\s*\w)" if quoted else r"(?<=\S)#|[^\s'\"$`\\;&|<>()#]"
            ):
                word, brace = word + plain[0], brace or (plain[0] == "{" and not quoted)
            elif self.text[self.at] == "$":
                word += self.expansion(quoted)
            else:
                break
        if quoted or (brace and has_value(word)):
            raise unsafe("a quoted text does not end, or a value is in a word with unquoted braces")
        word = re.sub(r"\$?\{?(GANTZ_ARG_\w+)", lambda one: self.known.get(one[1], ""), word)  # in single quotes
        return word if self.at > start else None

    def expansion(self, quoted: bool) -> str:
        """Read what begins with ``$``, and return what it can contain."""
        if numbers := self.take(r"\$\(\(((?:[^()'\"`\\$]|\$\w|\([^()'\"`\\$]*\))*)\)\)", silent=True):
            self.out.append(re.sub(PARAMETER, lambda one: f"${{{self.variables[one[1]]}-}}", numbers[0]))
            content = re.sub(PARAMETER, lambda one: self.marks[one[1]], numbers[1])
            names = re.findall(r"[A-Za-z_]\w*", content)
            if any(map(has_value, [content, *(self.known.get(name, "") for name in names)])):
                raise unsafe("a value that is no number is in $((…)), and a shell can evaluate it")
            return UNKNOWN
        content = UNKNOWN
        if self.take(r"\$\((?!\()"):
            outer = self.splits
            content = DERIVED if self.commands(")") else UNKNOWN
            self.splits = outer
        elif plain := self.take(r"\$\{(\w+)\}|\$(\w+|[?$#!*@-])"):
            content = self.known.get(plain[1] or plain[2], UNKNOWN)
        else:
            name = self.expect(r"\$\{(\w+)(?::[\d :-]+|(?::?[-+=?]|[#%/^,])[^{}'\"`$\\]*)\}")[1]
            content = DERIVED if has_value(self.known.get(name, "")) else UNKNOWN
        self.splits |= not quoted and has_value(content)
        return content

    def text_until(self, end: str, quoted: bool, tabs: str) -> bool:
        """Read the text of ``<<END``, which begins in the next line; return whether it has a value."""
        begins = self.text.find("\n", self.at)
        last = rf"{tabs and chr(9) + '*'}{end}(?=\n|\Z)"
        body = re.compile(rf"\n(?:.*?\n)?{last}", re.DOTALL).match(self.text, max(begins, 0))
        if body is None or self.here or (not quoted and re.search(r"[$`\\]", body[0])):
            raise unsafe(f"the text after << must end with the line {end}, and have $ only after <<'{end}'")
        fixed = re.sub(r"([\\$`])", r"\\\1", body[0])
        self.out.append(f"<<{tabs}{end}")
        self.here = begins, body.end(), re.sub(PARAMETER, lambda one: f"${{{self.variables[one[1]]}-}}", fixed)
        return re.search(f"{PARAMETER}|GANTZ_ARG_", body[0]) is not None

    def assign(self, name: str, word: str, alone: bool = True) -> None:
        """Note what a variable contains: a value itself, text made from a value, or other text."""
        if has_value(word) and not (alone and _PRIVATE.match(name)):
            raise unsafe("a value can't be in a variable that a program reads; write its name in small letters, or")
        self.checks.inside(word)
        value = has_value(word + self.known.get(word, ""))  # $((name)) reads the variable that a variable names
        mark = word if re.fullmatch("[\ue000-\uf8ff]", word) else DERIVED if value else UNKNOWN
        if (before := self.known.setdefault(name, mark)) != mark:
            self.known[name] = DERIVED if has_value(mark + before) else UNKNOWN

    def pattern(self) -> None:
        """Read a pattern of ``case``, if it does not end here."""
        self.space()
        if not self.text.startswith("esac", self.at):
            self.expect(r"\(?[\w*?.\[\]| \"'+-]+\)")

    def space(self) -> None:
        """Read spaces, comments and line ends, with the text of ``<<END`` that begins there."""
        while True:
            if self.here and self.at == self.here[0]:
                self.at = self.here[1]
                self.out.append(self.here[2])
                self.here = None
            elif not self.take(r"[ \t\n]|\\\n") and not self.take(r"#[^\n]*", silent=True):
                return

    def take(self, pattern: str, silent: bool = False) -> re.Match[str] | None:
        """Read what matches here, and write it unless `silent`."""
        taken = re.compile(pattern, re.DOTALL).match(self.text, self.at)
        if taken is not None:
            self.at = taken.end()
            if not silent:
                self.out.append(taken[0])
        return taken

    def expect(self, pattern: str) -> re.Match[str]:
        """Read what must be here."""
        if (taken := self.take(pattern)) is None:
            raise unsafe(f"the script has {self.text[self.at : self.at + 10]!r}, which is not read here")
        return taken
