"""Checks the words of a command: whether the program could run a value, and what a value must be so that it can't.

A word has one character for each value: from `TEXTS` for a string, from `NUMBERS` for a number or a boolean. `DERIVED` is text
that a script makes of a value, `UNKNOWN` text that is not in the manifest. A program that executes its arguments is refused;
``programs.json`` lists such programs. The list can't be complete: the author of a manifest must know whether a custom program
executes its arguments. A script file that the manifest names is trusted.
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

TEXTS, NUMBERS, DERIVED, UNKNOWN = 0xE000, 0xF000, "\x01", "\x02"
_LISTS = json.loads(Path(__file__).with_name("programs.json").read_text(encoding="utf-8"))
RULES = _LISTS.pop("rules")  # what the beginning of a value must not match, by the place where the value is, and why
_OF = {name: "|".join(words.split()) for name, words in _LISTS.items() if isinstance(words, str)}
_VALUE = re.compile("[\ue000-\uefff\x01]")
_RUNNERS = re.compile(  # also at the end of a path
    rf"(?<![\w.-])(?:(?:{_OF['run what they are given, also with a version']})(?:[-.\d][\w.+-]*)?"
    rf"|{_OF['run what they are given']})(?![\w./-])"
    rf"|(?<![\w./-])(?:{_OF['subcommands that run what they are given']})(?![\w./-])"
)
_INTERPRETERS = re.compile(rf"(?:{_OF['run a script file']})[\d.]*")
_LONG_OPTION = re.compile(r"--[A-Za-z][A-Za-z0-9-]*=")
_CODE_OPTION = re.compile(
    f"{_OF['options that run their text']}|(?<![a-z])(?:{_OF['options that run their text, as a whole word']})s?(?![a-z])"
)
_EVALUATES, _OWN = _LISTS["change what the shell runs"].split(), _LISTS["the shell's own"].split()
_READERS, _COPIERS = _LISTS["only read text"].split(), _LISTS["copy text"].split()
_AFTER = dict.fromkeys(_READERS + _COPIERS, _LISTS["options before a value"].pop("")) | _LISTS["options before a value"]
_WITH_CODE = ("psql", "sqlite3", "jq", "python", "python3")  # a part of the code can be a value


class ManifestError(ValueError):
    """A manifest that can't be read, or a tool in it that can't be made safe; the message lists every problem."""


def unsafe(why: str) -> ManifestError:
    """The error of a script that can't be made safe, with its fix."""
    return ManifestError(f"{why}{'' if why.endswith(', or') else ';'} {_LISTS['fix']}")


def runs(word: str) -> ManifestError:
    """The error of a program or word that executes its arguments."""
    return unsafe(f"{word!r} can run what it is given")


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
        for at, word in enumerate(words):
            number = "\uf000" <= word[:1] <= "\uf8ff" and program not in ("[", "test", "echo")
            if at and number and not _ended(words[:at]):
                self._require("leading", word[0])
            self.inside(word)
        implied = program in _LISTS["read files that are not named"].split()
        reads |= any(map(self.is_touched, words)) or (implied and bool(self.touched))
        if not (values or reads or file):
            self.touch([name for name in writes if has_value(name)])
            return bool(self.names) and program in _LISTS["write the environment"].split()
        own = "/" in words[0].lstrip("/") and self.is_touched(words[0])  # it could have been overwritten
        if re.search("[\x01\x02\ue000-\uf8ff]", words[0]) or words[0] in self.touched or own:
            raise unsafe("the program must be fixed, with no value in it and no assignment of a value before it")
        self.touch(writes)
        if program in _OWN:  # some shells evaluate what -v and -eq compare
            numeric = any(re.fullmatch("-(?:v|eq|[nlg][te])", word) for word in words)
            adjacent = any(has_value(one) and has_value(word) for one, word in pairwise(words))  # such as -v and a name
            if values and (numeric or adjacent or program not in ("[", "test")):
                raise runs(program)
            return values or reads
        if program in _LISTS["run or install what they are given, as a command"].split():
            raise runs(program)
        self._program(program, words, reads, values)
        if re.fullmatch(_OF["take options or a command from a file"], program):
            self._require("response", *(word[0] for word in words[1:] if has_value(word[:1])))
        known = program in (*_AFTER, "docker", "jq", "sqlite3") and program not in _COPIERS
        copies = [word for option, word in pairwise(words) if option in ("-o", "-i") or not known]
        download = words[:2] == ["git", "clone"] or any(re.match(r"-\w*O|--remote-name", word) for word in words)
        self.touch([word for word in copies if not has_value(word)])
        if values and (download or program in _LISTS["write files that a value names"].split()):
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

    def _program(self, program: str, words: Sequence[str], reads: bool, values: bool) -> None:
        """Check whether the program can run a value that it is given or reads, and then each argument."""
        takes = _LISTS["options of jq with values"] if program == "jq" else {}
        taken = {at + more for at, word in enumerate(words) for more in range(1, takes.get(word, 0) + 1)}
        plain = [at for at, word in enumerate(words) if at and not word.startswith("-") and at not in taken]
        if program == "git" and plain:
            first, last = _LISTS["fixed words of git, and the first branch"].get(words[plain[0]], (1, 0))
            if any(has_value(words[at]) and words[at - 1] != "-c" for at in plain[:first]):
                raise runs(program)  # such as git config core.pager
            for at in plain[last or len(plain) :] if "--" not in words else ():
                self._require("ref", *_VALUE.findall(words[at]))
        code: list[int] = []  # the arguments that are code
        own = len(words) + 1  # the arguments from here on are those of the manifest's own script
        if _INTERPRETERS.fullmatch(program):
            code = [2] if program in _WITH_CODE and words[1:2] == ["-c"] else []
            own = 3 if code or words[1:2] == ["-jar"] else 2
            script = words[own - 1] if len(words) >= own else "-"
            chosen = script.startswith("-") or UNKNOWN in script or has_value(script) or self.is_touched(script)
            if (chosen and not code) or (code and not _only_computes("".join(words[2:3]))):
                raise runs(program)
        elif "/" in words[0] and not words[0].startswith("/") and not _RUNNERS.search(program):
            own = 1
        elif program in ("sqlite3", "jq"):
            code = plain[1:] if program == "sqlite3" else plain[:1]
        elif program == "psql":
            code = [at + 1 for at, word in enumerate(words) if word == "-c"]
        elif program in ("kubectl", "docker") and not {*words[1:2]} & {*_LISTS["subcommands without code"].split()}:
            raise runs(program)
        file = _LISTS["arguments that are code or name it"]
        if program in file and any(re.match(file[program], word) for word in words):
            raise runs(program)
        if reads and program not in (*_READERS, *_COPIERS, "jq") and own > len(words):
            raise unsafe(f"{program!r} reads a value, and might run it")
        known = program in ("find", "kubectl", "docker", *_WITH_CODE) or own <= len(words) or not values
        for at, word in enumerate(words[:own]):
            data = at and (program in ("echo", "printf") or re.fullmatch(_AFTER.get(program, "(?!)"), words[at - 1]))
            read = (at or not known) and not data and at not in code and "://" not in word
            if read and (runner := _RUNNERS.search(word)) and words[:3:2] != ["gh", "view"]:
                raise runs(runner[0])
        for at, word in enumerate(words):
            if at in code:
                self._code(program, word)
            elif at and has_value(word):
                self._place(program, words[at - 1], word)
                if program in ("find", "printf") or not _ended(words[:at]):
                    self._argument(program, words[:at], word, at >= own)

    def _place(self, program: str, before: str, word: str) -> None:
        """Require what the program needs of a value, also after ``--``."""
        rule = _LISTS["what a program requires of a value"].get(program, "")
        if program in _LISTS["take addresses"].split() and word[0] != "-" and "://" not in word:
            self.inside(f"http://{word}")
        if program == "curl":
            rule = _LISTS["what curl requires after an option"].get(before, "url" if has_value(word[0]) else "glob")
        if program == "find" and "/" in word and not has_value(word[0]):
            rule = "entry"
        self._require(rule if word[0] != "-" else "", *_VALUE.findall(word))

    def _argument(self, program: str, before: Sequence[str], word: str, own: bool) -> None:
        """Check a word with a value, which might be an option or follow one."""
        if not own and word.startswith("-"):
            option = _LONG_OPTION.match(word)
            code = option and _CODE_OPTION.search(option[0])
            if option is None or code:
                why = f", because of the word {code[0]!r}," if code else ""
                raise unsafe(
                    f"a value is part of the option {_VALUE.split(word)[0]!r}, which{why} might run it; use a long option for"
                    " data, such as --file={{name}}, or"
                )
        after = before[-1] if before[-1].startswith("-") and before[-1] not in ("-", "--") and word[0] != "-" else ""
        if not own and after and not _LONG_OPTION.match(after):
            file = (
                program == "curl" and after in ("-d", "-H", "--data", "--header") and has_value(word[0])
            )  # @name is a file
            if file or not re.fullmatch(_AFTER.get(program, "(?!)"), after):
                raise unsafe(f"a value follows the option {after!r}, which can run it; use --option={{{{name}}}}, or")
        if has_value(word[0]) and program != "echo" and not (program == "printf" and len(before) > 1):
            if word[0] == DERIVED:
                raise unsafe("text made of a value might begin with -, as an option does; write -- before it, or")
            self._require("leading", word[0])
        form = [*before, word, ""][2 if "--" in before[1:2] else 1]
        if program == "printf" and re.search(r"%[-+ #\d.*]*[^-+ #\d.*%sb]|^-v|[\ue000-\uefff\x01\x02]", form):
            raise unsafe("printf can evaluate a value for -v and for anything but %s")

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
