"""Checks the words of a command: whether the program could run a value, and what a value must be so that it can't.

A word has one character for each value: from `TEXTS` for a string, from `NUMBERS` for a number or a boolean. `DERIVED` is text
that a script makes of a value, `UNKNOWN` text that is not in the manifest. ``programs.json`` lists the programs that use a value
only as data; every other program with a value is refused. A script file that the manifest names is trusted.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

TEXTS, NUMBERS, DERIVED, UNKNOWN = 0xE000, 0xF000, "\x01", "\x02"
_LISTS = json.loads(Path(__file__).with_name("programs.json").read_text(encoding="utf-8"))
RULES = _LISTS.pop("rules")  # what the beginning of a value must not match, by the place where the value is, and why
_PROGRAMS: dict[str, dict[str, Any]] = {
    # data: the options before a value; never: words with which it can run a value; first: its first argument;
    # plain: no argument is an option; reads: it can read a value; writes: it writes to the files that it names
    name: program
    for names, program in _LISTS["programs"].items()
    for name in names.split()
}
_OF = {name: "|".join(words.split()) for name, words in _LISTS.items() if isinstance(words, str)}
_VALUE = re.compile("[\ue000-\uefff\x01]")
_NO_SCRIPT = rf"(?:{_OF['never a script']})[\d.]*"
_EVALUATES, _OWN = _LISTS["change what the shell runs"].split(), _LISTS["the shell's own"].split()


class ManifestError(ValueError):
    """A manifest that can't be read, or a tool in it that can't be made safe; the message lists every problem."""


def unsafe(why: str) -> ManifestError:
    """The error of a script that can't be made safe, with its fix."""
    return ManifestError(f"{why}{'' if why.endswith(', or') else ';'} {_LISTS['fix']}")


def runs(word: str) -> ManifestError:
    """The error of a program or word that executes its arguments."""
    return unsafe(f"{word!r} might run what it is given")


def has_value(word: str) -> bool:
    """Whether the word contains a value, or text made from a value."""
    return _VALUE.search(word) is not None


class Checks:
    """The checks of a tool's commands, and what they require of each value: `rules`, by parameter."""

    def __init__(self, names: Sequence[str]) -> None:
        self.names = names
        self.rules: dict[str, set[str]] = {name: set() for name in names}
        self.touched: set[str] = set()  # files that a value can be in

    def command(
        self, words: Sequence[str], reads: bool = False, file: bool = False, writes: Sequence[str] = ()
    ) -> bool:
        """Check a command; return whether a value can be in what it writes.

        Args:
            reads: whether a value is in what it reads.
            file: whether it reads a file that a value names.
            writes: the files that it writes to.

        Raises `ManifestError` where the program could run a value.
        """
        program, values = words[0].rpartition("/")[2], any(map(has_value, words))
        if program in _EVALUATES:
            raise runs(program)
        known = _PROGRAMS.get(program)
        for at, word in enumerate(words):
            if at and "\uf000" <= word[:1] <= "\uf8ff" and not (known or {}).get("plain") and not _ended(words[:at]):
                self._require("leading", word[0])
            self.inside(word)
        reads |= any(map(self.is_touched, words)) or (known is None and program not in _OWN and bool(self.touched))
        if not (values or reads or file):
            self.touch([name for name in writes if has_value(name)])
            return bool(self.names) and program in _LISTS["write the environment"].split()
        if re.search("[\x01\x02\ue000-\uf8ff]", words[0]) or (
            "/" in words[0].lstrip("/") and self.is_touched(words[0])
        ):
            raise unsafe("the program must be fixed, with no value in it and no assignment of a value before it")
        self.touch(writes)
        if program in _OWN:
            if values:
                raise runs(program)
            return reads
        self._program(program, words, reads)
        known = known or {"writes": True}
        pairs = [pair for pair in pairwise(words) if pair[0] in ("-o", "-i") or known.get("writes")]
        self.touch([word for option, word in pairs if option == "-o" or not has_value(word)])
        download = words[:2] == ["git", "clone"] or any(re.match(r"-\w*O|--remote-name", word) for word in words)
        if values and (download or (known.get("writes") and program in _PROGRAMS)):
            self.touched.add(DERIVED)
        return values or program != "wc"

    def touch(self, words: Sequence[str]) -> None:
        """Note the files that a value can be in from now on."""
        self.touched |= {DERIVED if has_value(word) else _path(word) for word in words if word[:1] != "-"} - {"null"}

    def is_touched(self, word: str) -> bool:
        """Whether a value can be in a file."""
        pattern = bool(self.touched) and re.search(r"[*?\[]", word) is not None
        return pattern or bool(self.touched & {*word.split("/"), DERIVED})

    def file(self, word: str) -> None:
        """Check the name of a file after ``<`` or ``>``."""
        self.inside(word)
        before, count = _VALUE.split(word)[0], len(_VALUE.findall(word))
        if count and len(word) > 1 and ("/dev/".startswith(before[:5]) if before else count > 1 or "/" in word):
            raise ManifestError("after < or > a value must be a separate word, or follow a folder: < ./{{name}}")

    def inside(self, word: str) -> None:
        """Keep each value in the folder that comes before it, and on the server."""
        for value in _VALUE.finditer(word):
            before, after = word[: value.start()], word[value.end() :]
            if re.search("[/\x02][\\w.\x01\ue000-\uf8ff-]*\\Z", before):
                self._require("inside", value[0])
                if re.search("[.\x01\ue000-\uf8ff]\\Z", before) or has_value(after[:1]):
                    self._require("dots", value[0])
            if re.match(r"\w+://[^/?#]*\Z", before) and (after[:1] not in ("", "/", ":", "?") or before[-1] != "/"):
                self._require("path" if not after and before[-1] not in ":.@/" else "host", value[0])

    def _require(self, rule: str, *marks: str) -> None:
        for mark in marks if rule else ():
            for name in self.names if mark == DERIVED else [self.names[(ord(mark) - TEXTS) % (NUMBERS - TEXTS)]]:
                self.rules[name].add(rule)

    def _program(self, program: str, words: Sequence[str], reads: bool) -> None:
        """Check whether the program can run a value that it is given or reads, and then each argument."""
        code: list[int] = []  # the arguments that are code
        own = len(words)  # the arguments from here on are those of the manifest's own script
        known = _PROGRAMS.get(program)
        if re.fullmatch(rf"(?:{_OF['run a script file']})[\d.]*", program):
            code = [2] if program in ("python", "python3") and words[1:2] == ["-c"] else []
            own = 3 if code or words[1:2] == ["-jar"] else 2
            script = words[own - 1] if len(words) >= own else "-"
            chosen = script.startswith("-") or UNKNOWN in script or has_value(script) or self.is_touched(script)
            if (chosen and not code) or (code and not _only_computes("".join(words[2:3]))):
                raise runs(program)
        elif known is not None:
            code = self._checked(program, known, words)
            if reads and not known.get("reads"):
                raise unsafe(f"{program!r} reads a value, and might run it")
        elif re.match("(?!/usr|/s?bin|/lib).*/", words[0]) and not re.fullmatch(_NO_SCRIPT, program):
            own = 1
        else:
            raise runs(program)
        for at, word in enumerate(words):
            if at in code:
                self._code(program, word)
            elif at and has_value(word):
                self._place(program, words, at)
                if not _ended(words[:at]):
                    self._argument(program, known or {}, words[at - 1], word, at >= own)

    def _checked(self, program: str, known: dict[str, Any], words: Sequence[str]) -> list[int]:
        """Check the fixed arguments of a known program; return the places of the arguments that are code."""
        takes = _LISTS["options of jq with values"] if program == "jq" else {}
        taken = {at + more for at, word in enumerate(words) for more in range(1, takes.get(word, 0) + 1)}
        plain = [at for at, word in enumerate(words) if at and not word.startswith("-") and at not in taken]
        values, first = any(map(has_value, words)), words[plain[0] if program == "printf" and plain else 1 :][:1]
        never = "never" in known and any(re.match(known["never"], word) for word in words[1:])
        # some shells evaluate what -v and -eq compare, and two values can be -v and a name
        if program in ("[", "test"):
            never = values and (never or any(has_value(one) and has_value(word) for one, word in pairwise(words)))
        if never or ("first" in known and not re.fullmatch(known["first"], "".join(first))):
            raise runs(program)
        if program == "psql":
            return [at + 1 for at, word in enumerate(words) if word == "-c"]
        return plain[1:] if program == "sqlite3" else plain[:1] if program == "jq" else []

    def _place(self, program: str, words: Sequence[str], at: int) -> None:
        """Require what the program needs of a value, also after ``--``."""
        word, before = words[at], words[at - 1]
        rule = _PROGRAMS.get(program, {}).get("rule", "")
        if program == "git" and words[1] in _LISTS["branches in git"].split() and "--" not in words:
            rule = "ref"
        if program in ("curl", "wget") and word[0] != "-" and "://" not in word:
            self.inside(f"http://{word}")
        if program == "curl":
            rule = _LISTS["what curl requires after an option"].get(before, "url" if has_value(word[0]) else "glob")
        if program == "find" and "/" in word and not has_value(word[0]):
            rule = "entry"
        self._require(rule if word[0] != "-" else "", *_VALUE.findall(word))

    def _argument(self, program: str, known: dict[str, Any], before: str, word: str, own: bool) -> None:
        """Check a word with a value, which might be an option or follow one."""
        if known.get("plain"):
            return
        option, equals, _ = word.partition("=")
        data = known.get("data", "(?!)")
        if not own and word[0] == "-" and not (equals and re.fullmatch(data, option) and option[:2] == "--"):
            raise unsafe(f"a value is part of the option {_VALUE.split(word)[0]!r}, which might run it, or")
        if not own and word[0] != "-" and before[0] == "-" and before not in ("-", "--") and "=" not in before:
            file = (
                program == "curl" and before in ("-d", "-H", "--data", "--header") and has_value(word[0])
            )  # @name is a file
            if file or not re.fullmatch(data, before):
                raise unsafe(f"a value follows the option {before!r}, which can run it; use --option={{{{name}}}}, or")
        if word[0] == DERIVED:
            raise unsafe("text made of a value might begin with -, as an option does; write -- before it, or")
        if has_value(word[0]):
            self._require("leading", word[0])

    def _code(self, program: str, code: str) -> None:
        """Check code that a value is part of."""
        for value in _VALUE.finditer(code):
            before = code[: value.start()]
            rule = "" if program.startswith("python") or (program == "jq" and before[-1:] != ".") else "word"
            if _in_quotes(before) and not (program == "sqlite3" and re.search(r"(?m)^\s*\.", before)):
                rule = "quoted"
            elif code == value[0]:
                rule = "sql" if program == "psql" else ""
            from_sql = program in ("psql", "sqlite3") and re.search(
                _OF["run a program from SQL"], before, re.IGNORECASE
            )
            if not rule or value[0] == DERIVED or from_sql:
                raise runs(program)
            self._require(rule, value[0])


def _only_computes(code: str) -> bool:
    """Whether Python code imports no module that can run something, and calls nothing that does."""
    names: list[str] = []
    try:
        for node in ast.walk(ast.parse(code)):
            if isinstance(node, ast.Import):
                names += [f"import {one.name}" for one in node.names]
            elif isinstance(node, ast.ImportFrom):
                names += [f"import {node.module}", *(one.name for one in node.names)]
            else:
                names += [name for field in ("id", "attr") if isinstance(name := getattr(node, field, None), str)]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return all(re.fullmatch(_OF["names in Python code that only computes"], name) for name in names)


def _in_quotes(before: str) -> bool:
    """Whether what follows is in quotes for certain: nothing before can end, escape or replace a quoted string."""
    for quote, other in ("'\"", "\"'"):
        if before.count(quote) % 2 and not re.search(rf"[{other}#\\`$]|--|/[*/]|\w{quote}(?=[^{quote}]*\Z)", before):
            return True
    return False


def _path(word: str) -> str:
    """The name of a file, without its folder, which `cd` can change."""
    return word.rstrip("/").rpartition("/")[2]


def _ended(words: Sequence[str]) -> bool:
    """Whether one of the words is ``--`` and no option that might take it as its argument comes before it."""
    return any(word == "--" and not before.startswith("-") for before, word in pairwise(words))
