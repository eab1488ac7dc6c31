"""Reads what a person asks of a scripted planner, in words that the author of the script did not write down.

The reader knows the words of its world's topics, the words that negate, and the words that carry no request. It splits a text
into clauses, counts the negations of each, and gives up (None) at a word that it does not know, a condition, a question, a
choice, or a contradiction: a script must not guess.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise, takewhile
from pathlib import Path
from typing import NamedTuple

import yaml

Options = dict[str, bool]


class Topic(NamedTuple):
    """A thing that a text can ask for or rule out.

    `nouns` and `verbs` name it. The other fields are options, such as "staging -backup": those that change if it is asked for
    (`yes`; None: the script can't do that), ruled out (`no`; None: likewise), asked for in advance (`early`), or as the only
    thing (`only`); without options for these two, the script can't do that. `weak` words count only in a clause that names no
    other topic. A `message` can't have another topic in its words. A `thing` can be left as it is; a step can't.
    """

    nouns: str
    verbs: str
    yes: str | None
    no: str | None
    early: str = ""
    only: str = ""
    weak: bool = False
    message: bool = False
    thing: bool = False


class Clause(NamedTuple):
    """The topics of a clause, whether it rules them out, whether it has a verb or negation of its own, and its time."""

    topics: tuple[Topic, ...]
    negative: bool
    own: bool
    early: bool = False
    late: bool = False
    only: bool = False
    denied: bool = False  # by a word such as "not", rather than by a verb such as "skip"
    alters: bool = False  # by a verb such as "change"


_LINKS = ("before", "until", "without", "after")
_ARTICLES = "a an the our your my their its".split()
_CUT_OFF = "on is are do does not be can may must should will would could go".split()
_DENIALS = ("not", "no", "never", "neither", "nobody", "nothing", "without")
_NEGATIONS = """\
    not no never none nothing nobody neither nor without skip omit drop avoid exclude remove bypass cancel ditch scrap
    forgo forget ignore stop postpone delay defer freeze frozen forbid forbidden ban prohibit refrain unnecessary
    unneeded needless superfluous pointless useless redundant against spare eliminate hold suppress dispense strike lose
    abandon abort reject veto disallow refuse oppose discard cut kill nix scratch disable minus overkill irrelevant"""
_VERBS = """\
    bring do make come switch bother run keep add include use want need require be insert perform put get go start begin set
    take proceed have retain leave stay involve let give must deserve should plan carry execute send
    call prefer insist create doing going goes"""
_ALTERS = "change alter touch edit modify adjust adapt"
_FILLERS = """\
    a an the this that these those them our your my their its it we you i they he she us of to on in at for with by from as
    is does are am through will shall would could can may ought like love please kindly thank thanks cheers hi hello hey
    dear bitte danke ok okay yes well so also too still just really very quite simply rather absolutely definitely
    certainly completely entirely totally altogether step steps part phase thing everything all each every any anything
    anyway safe safely careful carefully now here there order request favor favour wish environment env version into
    onto think believe feel hmm today's always ever because since happen occur be been being explicit explicitly instead
    necessary needed required important essential allowed fully sake goodness pls plz sir madam regard best wishes which
    who whole full complete lovely happy glad nicely course able need change changes final word intention intend suggest
    propose recommend recommended appreciate appreciated grateful yet however though therefore me lets hence thus thx ty nah"""
_PEOPLE = """\
    team everyone everybody anyone anybody colleague people staff crew dev devs developer
    folks guy guys mate coworker stakeholder"""
_IS = frozenset("is are was were seems be".split())
_HELD = frozenset("postpone postponed delay delayed defer deferred hold".split())
_DOINGS = "make run perform get start begin set take carry execute send".split()
_USELESS = frozenset(
    "unnecessary unneeded needless superfluous pointless useless redundant overkill irrelevant".split()
)
_ENDS = frozenset("cut kill nix scratch disable remove drop scrap ditch eliminate discard strike lose".split())
_MILD = "add use take include put keep leave let make go proceed".split()
_EARLY = "first before beforehand upfront ahead advance prior early initially earlier"
_LATE = "after afterwards afterward finally later end eventually last"
_TIMES = (
    r"(?:when|once|as soon as|after)(?: \w+){0,3}? (?:is|are|has|have|has been|have been|be)? ?"
    r"(?:done|finished|over|complete|completed|live|deployed|released|migrated|changed)\b"
)
_SAME = r"(?:as (?:it|they) (?:is|are)|as[- ]is|unchanged|untouched|alone|the same|the way (?:it|they) (?:is|are))\b"
_STAYS = (
    r"\b([\w-]+) (?:(?:can|may|must|should|will|(?:has|have|is) to) )?"
    rf"(?:stays?|remains?|be (?:left|kept)) {_SAME}"
)
# Where a reason ends: a second request follows "and", or nothing of it is understood.
_ENDED = (
    r"(?=[.;!?,]|$| and (?:then |please |also )*(?:tell|inform|notify|warn|make|do|take|use|run|keep|skip|omit|drop|leave|stop"
    r"|start|deploy|release|ship|write|send|cook|serve|back|save|add|include|show|don['’]?t|not?|never)\b)"
)
_REASON = (
    r"\b(?:because|since (?=i |we |you |it |they |the )|so that (?=i |we |you |they )|(?<!,) so (?=i |we |you |they )|as (?=i |we )"
    r"|(?<=, )i (?=know|did|have))"
    r"(?:(?!\b(?:if|unless|except|until|but|not|no|only|skip|omit|drop|leave|cancel|remove|forget|and|or|then|plus)\b"
    r"|n['’]t\b)[^.;!?,])*"
    + _ENDED
    + r"|\beven (?:if|though) (?:(?!\b(?:unless|except|until|but|only|and|or|then|plus)\b)[^.;!?,])*"
    + _ENDED
)
# A clause that says how things are: a subject and its verb, and no word that can ask for something.
_STATED = re.compile(
    r"\s*(?:(?:it|they|he|she|that|there)(?:['’](?:s|re)|\b)"
    r"|(?:we|i)(?:['’](?:re|m)| (?:still|already|just|all|am|are|were|was|had|got|know|think|guess|believe))\b"
    r"|(?:the|my|our|his|her|their)(?: \w+){1,3}? (?:is|are|was|were|has|had|does|did|\w{3,}s)\b"
    r"|\w+ (?:do(?:es)?|did|made|took|ran|has|have|had) (?:it|that|this|one|them)\b)"
)
_ASKS = re.compile(
    r"\d|n['’]t\b|['’](?:d|ll)\b|\b(?:must|should|shall|would|could|can|may|might|will|wants?|needs?|ha(?:s|ve|d) to|got to|likes?"
    r"|prefers?|requires?|expect(?:s|ing)?|insist\w*|demand\w*|await\w*|waits?|stays?|approves?|gets?|goes"
    r"|asks?|lets?|please|pls|if|unless|when|while|whether|except|instead|otherwise|other|another|different"
    r"|more|less|fewer|also|too|important|necessary|essential|crucial|vital|better|best|nice|great|idea|required|mandatory|supposed"
    r"|time|due|wish|hope|try|how|what|which)\b"
)
_NOT = r"(?:\b(?:not|no|never)\b|n['’]t\b)"
_NEED = r"(?! (?:need|reason|use|point|request|wish|favou?r)\b)"
# Such as "our backup is important", or "a release to production": more than the name of a thing.
_SAYS_MORE = re.compile(rf"\b(?:is|are)\b|^\s*(?:{'|'.join(_ARTICLES)}) .*\b(?:to|first|before(?:hand)?|chosen-\S+)")
# What says something instead of asking for it, or asks for a part of a thing: no word of the script's.
_NO_REQUESTS = (
    r"\b(?:today|tomorrow|it|this)(?: is|['’]s)(?: not|n['’]t) (?=(?:a |the )?(?:\w+day|weekend|tonight)\b)",
    r"\b(?:i|you|we|they) (?:have |had |\w+ly )*(?:(?!\w*eed\b)\w+ed|forgot|forgotten|left|took|lost|did|was|were)\b",
    rf"\b(?:(?:we|i|they|you) (?:have|had|got)|there(?: is| are|['’]s)) (?:no|nobody|nothing|none|an?|the|already)\b{_NEED}",
    r"\byou (?:never|always|still|only|do(?: not|n['’]t))\b(?! (?:have|need|dare))",
    r"\b(?:no|without) [^,;.]*, ?(?:no|without) (?:deploy|releas|migrat|rollout|ship)\w*",
    rf"{_NOT}(?: (?!until|before|without|after)\w+){{0,3}}? (?:all|every\w*|each|both|whole|full|entire|complete|always)\b",
    rf"{_NOT}[^,;.]*\b(?:except|excluding|apart from|aside from|besides|other than)\b(?! for\b)",
    rf"{_NOT} mind\b",
    r"\b(?:keep|leave|stay)\w* [^,;.]*\b(?:running|going|working|up)\b",
    r"\b(?:verify|check|test)(?:ing)? (?:it|them|that)\b",
    r"\bat (?:\d+|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|noon|midnight)\b",
    r"\bthe (?:very )?(?:first|second|third|last|final|other|previous|next|initial|early|earlier|later) (?!thing|step\b)",
)
# The end of the plan must wait, and nothing else: "no release", but not "no backup of production".
_WAITS = (
    r"(?:(?:\b(?:not|no|never|postpone|hold|stop|wait|pause|halt)\b|n['’]t\b)"
    r"(?: (?:the|a|any|our|this|to|go|touch|change|start|put|anything|please|make|do|with|on|before))*"
    r" (?:production|prod|release|releasing|deploy(?:ment|ing)?|ship|publish|rollout|migrat(?:e|ion|ing)|serv(?:e|ing)"
    r"|the table|code changes?)"
    r"(?: (?:it|this|that|anything|yet|(?:to|in) production))*|\bfrozen)"
)
_NAMES = {
    "PEOPLE": "|".join(_PEOPLE.split()),
    "EMAIL": r"(?:e-?mail )?(?:address(?:es)?|e-?mails?)",
    "REASON": _REASON,
    "NO_REQUESTS": "|".join(_NO_REQUESTS),
    "STAYS": _STAYS,
    "SAME": _SAME,
    "WAITS": _WAITS,
    "COURSE": r"(?:soup|starter|roast|chicken|meat|main|dessert|tart|sweet|(?:first|second|third|last) course)s?\b",
    "TIMES": _TIMES,
    "NOT": _NOT,
}
_TABLES = yaml.safe_load(Path(__file__).with_name("phrases.yaml").read_text("utf-8"))


def phrases_of(part: str) -> dict[str, str]:
    """The phrases of a world, or the common ones, from the table beside this module, each with the words that replace it."""
    return {re.sub("<([A-Z_]+)>", lambda name: _NAMES[name[1]], row[0]): row[1] for row in _TABLES[part]}


# What joins a reason to a request, what the request calls the thing, and which words may stand beside the thing's name.
_SO = re.compile(r"\s*(?:so|therefore|hence|thus)\b")
_PRONOUN = re.compile(r"\b(?:it|them|(?:that|this)(?: (?:part|step|one))?)\b")
_TOO = re.compile(r"\btoo (?:long|slow|much|many|big|large|expensive|flaky|risky)\b|\b(?:much|long|of|last) time\b")
# A reason before "so": a subject and its verb, whatever the subject is.
_REASONED = re.compile(
    r"\s*(?:(?:the|our|my|your|his|her|their|this|that|these|those|some|many|most|both|nobody|every(?:body|one)|another|[wyi]e?|you"
    r"|they|s?he|it|there)(?: [\w'-]+){0,6}? (?:is|are|am|was|were|has|have|had|does|did|do|will|made|ran|took"
    r"|got|wrote|found|knew?|came|went|said|depend|\w{3,}(?:s|ed))\b"
    r"|(?:\w+ ){1,2}(?:is|are|was|were|has|had)\b|a-fact\b)"
)
_PARTS = frozenset("some half most many few several part parts one two three first second third rest".split())
_FOLLOWS = frozenset(
    "failed ran runs lasts costs works worked seems looks hangs myself ourselves yesterday already still once".split()
)
_NARROWS = frozenset(
    "in on of for with without from at to by about against between under after before using that which who during".split()
)
_REFERS = {"do", "run", "make", "need", "use", "want", "include", "bother", "touch", "get"}
_QUESTION = r"\s*(?:why|how|what|who|which|where|when|is|are|was|were|does|do|did|has|should|shall|must|am)\b[^.!]*\?"
_SPLIT = r"([,;:.!?\n]+|\b(?:and|but|then|or|nor|plus)\b)"
_ENDINGS = re.compile(r"^(.{4,}?)(?:ments?|ions?|ings?|ed|es|e|s|ly)*$")
_DOUBLE = re.compile(r"^(..+)(.)\2$")  # of four letters or more: "off" is not "of"


def stem(word: str) -> str:
    """The word without its endings: "skipping" and "skips" give "skip"."""
    match = _ENDINGS.match(word)
    return _DOUBLE.sub(r"\1\2", match[1] if match else word)


def _near(word: str, known: str, *, replaced: bool = True) -> bool:
    """Whether two letters are swapped, or one letter is missing, added or (in longer words) another one (`replaced`).

    The first letter is the same: "either" is no slip of "neither".
    """
    start = _shared(word, known)
    end = _shared(word[start:][::-1], known[start:][::-1])
    left, right = word[start : len(word) - end], known[start : len(known) - end]
    shortest = min(len(word), len(known))
    swapped = len(left) == 2 and left == right[::-1]
    another = len(left) == len(right)
    slipped = shortest > 4 + another and max(len(left), len(right)) == 1 and (replaced or not another)
    return start > 0 and shortest > 3 and (swapped or slipped)


def _shared(word: str, other: str) -> int:
    """How many letters two words have in common at their beginnings."""
    return len(list(takewhile(lambda pair: pair[0] == pair[1], zip(word, other, strict=False))))


def _link(match: re.Match[str]) -> str:
    """The word that joins two parts, for one with a slip."""
    return next((link for link in _LINKS if _near(match[0], link, replaced=False)), match[0])


class Reader:
    """Reads the requests of one world.

    Args:
        topics: what can be asked for, by the words for it.
        fillers: words of this world that carry no request.
        phrases: patterns of this world, each with the words that replace it; they are replaced first.
        main: the option that the goal needs; a text can't be a goal without it.
    """

    def __init__(
        self, topics: Sequence[Topic], main: str, fillers: str = "", phrases: Mapping[str, str] | None = None
    ) -> None:
        self.topics, self.main, self.phrases = tuple(topics), main, {**(phrases or {}), **phrases_of("common")}
        kinds = {"people": _PEOPLE, "filler": f"{_FILLERS} {fillers}", "verb": _VERBS, "negation": _NEGATIONS}
        kinds |= {"alter": _ALTERS, "early": _EARLY, "late": _LATE, "only": "only solely exclusively"}
        self._kinds = {stem(word): kind for kind, words in kinds.items() for word in words.split()}
        self._named = {stem(w): topic for topic in topics for w in f"{topic.nouns} {topic.verbs}".split()}
        named = " ".join(f"{topic.nouns} {topic.verbs}" for topic in topics)
        self._words = sorted({*" ".join(kinds.values()).split(), *named.split()})
        self._verbs = {stem(w) for topic in topics for w in topic.verbs.split()}

    def read(self, text: str, *, goal: bool = False) -> Options | None:
        """Return the options that the text changes, {} if it asks for nothing.

        None: a part of it is not understood, or a goal is not the script's.
        """
        words = text.lower()
        if re.match(_QUESTION, words):
            return None
        for pattern, replacement in self.phrases.items():
            words = re.sub(pattern, replacement, words)
        words = re.sub(r"[a-z]{5,}", _link, words)
        options: Options = {}
        reached = False
        for clause in self._clauses(words):
            changes = None if clause is None else _changes(clause)
            if clause is None or changes is None:
                return None
            reached = reached or changes.get(self.main, False)
            if not _limits(clause) and any(options.get(name, value) != value for name, value in changes.items()):
                return None
            options |= changes
        if goal and not reached:
            only = [_options(topic.only) for topic in self.topics if topic.only and options.get(topic.yes or "")]
            return options | only[0] if only else None
        return options

    def _clauses(self, text: str) -> Iterator[Clause | None]:
        """Read each clause; None for one that is not understood. A clause without a verb continues the one before it."""
        before: Clause | None = None
        early = False
        for mark, piece in self._pieces(["", *re.split(_SPLIT, text)]):
            if not piece.strip() or self._stated(piece):
                continue
            for clause in self._timed(piece.split()):
                if clause is None:
                    yield None
                    return
                if re.match(r"\s*before\b", piece) and not clause.negative and all(map(self._is_main, clause.topics)):
                    early = True  # "before you deploy, …": the time of the next clause
                    continue
                if re.match(r"\s*before\b", piece) and clause.topics:
                    yield None  # such as "before the backup, …"
                    return
                if not clause.topics:
                    if mark == "or":
                        yield None  # such as "first or last"
                        return
                    if (
                        clause.alters
                        and clause.denied
                        and before
                        and before.negative
                        and all(t.thing for t in before.topics)
                    ):
                        continue  # "production is frozen, don't touch it"
                    repeats = clause.negative and not clause.denied and self._refers(piece)
                    if repeats and before and before.negative and len(before.topics) == 1:
                        continue  # "the backup is useless, skip it"
                    early = early or clause.early
                    if clause.negative or clause.own or clause.only:
                        yield None
                    continue
                joined = _joined(clause, before, mark)
                if before and before.negative and self._corrects(piece):
                    yield None  # such as "skip the tests, not staging"
                    return
                first = joined and joined.negative and (early or joined.early)
                if first and not (clause.early and re.search(r"\b(?:not|never|nobody)\b", piece)):
                    yield None  # such as "first, no backup"
                    return
                states = _SAYS_MORE.search(piece) and not clause.own and not _limits(clause)
                if joined is None or (states and joined.negative):  # such as "skip staging, our backup is important"
                    yield None
                    return
                before = joined._replace(early=joined.early or early)
                early = False
                yield before

    def _pieces(self, split: Sequence[str]) -> list[tuple[str, str]]:
        """The pieces with their marks, without those that only say why the next one asks for something.

        A reason names nothing, or one thing that the next piece names too, or means by "it".
        """
        pieces = [(mark, piece) for mark, piece in zip(split[::2], split[1::2], strict=True) if piece.strip()]
        for place in range(len(pieces) - 1, 0, -1):
            (mark, reason), (link, piece) = pieces[place - 1 : place + 1]
            so = bool(_SO.match(piece))
            day = re.match(r"\s*it (?:a )?\w+day\b", reason) is not None
            if link == "but" or link == "or" or not self._reasons(reason, so=so):
                continue
            about, asked = self._topics(reason, days=not (so or day)), self._topics(piece)
            if len(about) == 1 and not asked and self._refers(piece) and self._whole(reason):
                piece, asked = _PRONOUN.sub(about[0].nouns.split(" ")[0], piece, count=1), about
            listed = bool(about) and mark in ("and", "or", "nor", "plus")  # "the tests and the backup take ages"
            if all(topic in asked for topic in about) and (so or day or about) and not listed:
                pieces[place - 1 : place + 1] = [(mark, piece)]
        return pieces

    def _reasons(self, piece: str, *, so: bool) -> bool:
        """Whether a piece says how things are, so that it can be a reason; before "so" it can also say how they are not."""
        words = re.findall(r"[\w'-]+", piece)
        kinds = [self._known(word)[0] for word in words]
        odd = {"only"} if so else {"alter", "only", "negation", "early", "late"}
        plain = re.sub(r"\b(?:will|another|other)\b", "", piece) if so else piece
        imperative = kinds[:1] in (["verb"], ["negation"], ["alter"]) and words[0] not in ("nobody", "nothing")
        formed = _STATED.match(piece) or (so and _REASONED.match(piece))
        return bool(formed) and not imperative and not _ASKS.search(_TOO.sub("", plain)) and not odd & {*kinds}

    def _corrects(self, piece: str) -> bool:
        """Whether a piece only takes something back: it begins with "not", and has no verb."""
        if not re.match(r"\s*(?:(?:please|rather|just|but) )*(?:not|never)\b", piece):
            return False
        for before, word in pairwise(["", *re.findall(r"[\w'-]+", piece)]):
            kind, topic, is_verb = self._known(word)
            named = topic is not None and (before in _ARTICLES or stem(word) in map(stem, topic.nouns.split()))
            if kind in ("verb", "alter") or (is_verb and not named):
                return False
        return True

    def _topics(self, piece: str, *, days: bool = True) -> list[Topic]:
        """The topics that a piece names, with `days` or without."""
        topics = [self._known(word)[1] for word in re.findall(r"[\w'-]+", piece)]
        return [one for one in dict.fromkeys(topics) if one and not one.weak and (days or one.yes is not None)]

    def _refers(self, piece: str) -> bool:
        """Whether a piece asks for one thing that it calls "it"."""
        words = re.findall(r"[\w'-]+", piece)
        kinds = [self._known(word)[0] for word in words]
        verbs = {word for word, kind in zip(words, kinds, strict=True) if kind == "verb"}
        known = None not in kinds and not {"forget", "cancel"}.intersection(words)
        return len(_PRONOUN.findall(piece)) == 1 and known and verbs <= _REFERS

    def _whole(self, reason: str) -> bool:
        """Whether the one thing that a reason names is all of it: not "half of the tests", "the slow tests", "the test files"."""
        words = ["", *re.findall(r"[\w'-]+", reason), ""]
        for place, (before, word, after) in enumerate(zip(words, words[1:], words[2:], strict=False), 2):
            topic = self._known(word)[1] if word else None
            if topic is not None and not topic.weak and topic.yes is not None:
                follows = not after or after in _FOLLOWS or self._known(after)[0] is not None
                rest = takewhile(lambda word: word not in ("already", "ran"), words[place:])
                if not follows or _NARROWS.intersection(rest) or (before and self._known(before)[0] is None):
                    return False
        return not _PARTS.intersection(words)

    def _stated(self, piece: str) -> bool:
        """Whether the piece says how things are, such as "they take forever": it has no word that the reader reacts to."""
        kinds = {self._known(re.sub(r"^\W+|\W+$", "", word))[0] for word in piece.split()[1:]}
        return bool(_STATED.match(piece)) and not _ASKS.search(piece) and kinds <= {None, "filler", "verb"}

    def _is_main(self, topic: Topic) -> bool:
        return topic.yes is not None and topic.yes.split()[:1] == [self.main]

    def _timed(self, words: Sequence[str]) -> Sequence[Clause | None]:
        """Read a clause; a part after "before", "until", "without" or "after" says when, or without what."""
        place = next((place for place, word in enumerate(words) if word in _LINKS), 0)
        if place == 0 or place == len(words) - 1:
            return [self._clause(words)]
        word, left, right = words[place], self._clause(words[:place]), self._clause(words[place + 1 :])
        if left is None or right is None:
            return [None]
        late = word == "after"
        if word != "without" and all(map(self._is_main, right.topics)):
            if left.topics:
                return [left._replace(early=not late, late=late)]
            return [right._replace(negative=True, own=True) if left.negative and right.topics and not late else None]
        if word in ("before", "until") and left.negative and not left.denied and not left.topics:
            return [None]  # such as "stop before staging"
        if not right.topics or not all(topic.weak or self._is_main(topic) for topic in left.topics):
            return [None]
        right = right._replace(own=True)
        if word != "without":
            right = right._replace(early=left.negative or late, late=not left.negative and not late)
            return [left, right] if left.topics and not left.negative else [right]
        if left.negative:
            return [right._replace(early=True)]
        right = right._replace(negative=not right.negative)
        return [left, right] if left.topics else [right]

    def _clause(self, words: Sequence[str]) -> Clause | None:
        kinds: list[str] = []
        named: list[Topic] = []
        message: int | None = None
        own = denied = False
        if words[-1] in _CUT_OFF:
            return None  # it leaves out its verb: "…, the backup is"
        days = 0
        for place, word in enumerate(words):
            kind, topic, is_verb = self._known(re.sub(r"^\W+|\W+$", "", word))
            if kind is None:
                return None
            if word in _USELESS and self._known(words[min(place + 1, len(words) - 1)])[1]:
                return None  # such as "skip the useless tests", which are only some
            kinds.append(kind)
            denied = denied or word in _DENIALS
            days += topic is not None and topic.yes is None and not topic.weak
            if place in (1, len(words) - 1) and words[0] in _ARTICLES and "people" not in kinds:
                predicate = kind == "negation" and _IS.intersection(words[:place])  # "the backup is useless"
                own = own or bool(predicate)  # "and the smoke check" has no verb
            else:
                named_as = is_verb and words[max(place - 1, 0)] in _ARTICLES  # "also the tests" has no verb
                own = own or (is_verb and not named_as) or kind in ("verb", "alter", "negation")
            if topic is not None and topic not in named:
                named.append(topic)
            if topic is not None and topic.message and message is None:
                message = len(kinds)
        if "today" in words and any(not (topic.weak or topic.yes is None or self._is_main(topic)) for topic in named):
            named = [topic for topic in named if topic.yes is not None or topic.weak]  # "no tests today": in this run
            days = 0
        strong = [topic for topic in named if not topic.weak]
        if "just" in words and self._restricts(words[words.index("just") + 1 :], kinds, strong):
            kinds.append("only")
        if days > 1 and own:
            return None  # such as "on Saturday rather than on Friday"
        if "people" in kinds and named and not any(topic.message and topic.yes != "show" for topic in named):
            return None  # such as "the team tests it"
        if named and all(one.thing and self._is_main(one) for one in named) and _ENDS.intersection(words):
            return None  # such as "kill production"
        held = _HELD.intersection(words) and not all(map(self._is_main, strong))
        if held or self._promised(words):
            return None  # such as "delay the backup", which does not leave it out
        if message is not None:
            told = next((place for place in range(message, len(words)) if words[place] in ("to", "that")), len(words))
            content = kinds[told - 1 :] if told < len(words) else []
            if "negation" in content or not all(one.message or self._is_main(one) for one in strong):
                return None
        count = kinds.count("negation")
        if count > 2:
            return None
        if count % 2 == 1 and kinds[0] == "early" and words[0] != "before":
            return None  # such as "first skip the backup"
        times = ("early" in kinds, "late" in kinds, "only" in kinds)
        asked = [topic for topic in strong if topic.yes is not None]
        others = [topic for topic in asked if not (self._is_main(topic) and topic.thing)]
        if len(others) > 1:
            return None  # such as "skip the tests on staging"
        placed = any(word in ("in", "on") and self._at_main(after) for word, after in pairwise(words))
        if others and count % 2 == 1 and placed:
            return None  # such as "skip the smoke test in production": the one on staging stays
        if (count % 2 == 1 or "only" in kinds) and all(
            topic.yes is not None or topic.message for topic in strong
        ):  # no day
            strong = others or strong  # "don't back up production"
        return Clause(tuple(strong or named), count % 2 == 1, own, *times, denied, "alter" in kinds)

    def _at_main(self, word: str) -> bool:
        topic = self._known(word.strip(".,;!"))[1]
        return topic is not None and topic.thing and self._is_main(topic)

    def _promised(self, words: Sequence[str]) -> bool:
        """Whether the speaker says what they do themselves: "I run the tests", "I will tell the team"."""
        rest = words[words.index("i") + 1 :] if "i" in words else []
        done = next((word for word in rest if word not in ("will", "shall", "can", "may", "might", "already")), "")
        return done in _DOINGS or stem(done) in self._verbs

    def _restricts(self, after: Sequence[str], kinds: Sequence[str], topics: Sequence[Topic]) -> bool:
        """Whether "just" means only: "just the soup" and "just cook the soup", but not "just skip it" and "just use onions"."""
        word = next((word for word in after if word not in ("a", "an", "the", "some", "our")), "")
        topic, verb = self._known(word)[1:]
        if topic is not None and not (verb and word not in topic.nouns.split()):
            return True
        if word in _MILD or {"negation", "early", "late"}.intersection(kinds):
            return False
        return any(topic.only or not (topic.message or self._is_main(topic)) for topic in topics)

    def _known(self, word: str) -> tuple[str | None, Topic | None, bool]:
        """The kind of a word, its topic, and whether it is a topic's verb; (None, None, False) for an unknown word."""
        known = stem(word)
        if known and known not in self._named and known not in self._kinds:
            near = {stem(one) for one in self._words if self._is_slip(word, one) or self._is_slip(known, stem(one))}
            meant = {self._named.get(one, self._kinds.get(one)) for one in near}
            if len(meant) != 1 or not all(kind == "negation" or isinstance(kind, Topic) for kind in meant):
                return None, None, False  # what is only like a word without a request can have one
            known = min(near)
        topic = self._named.get(known)
        kind = "topic" if topic else self._kinds.get(known, "filler")
        return kind, topic, known in self._verbs

    def _is_slip(self, word: str, known: str) -> bool:
        """Whether a word is a known one with a slip. No letter of a negation is another: "remote" is not "remove"."""
        return _near(word, known, replaced=self._kinds.get(stem(known)) != "negation")


def _joined(clause: Clause, before: Clause | None, mark: str) -> Clause | None:
    """The clause after the mark that joins it to the one before it; None for a choice, or "skip this, but not that"."""
    if mark == "but" and clause.denied and before is not None and before.negative:
        return None
    if mark in ("or", "nor"):
        if before is None or not before.denied:
            return None
        negative = not clause.negative if clause.own else before.negative
        return clause._replace(negative=negative, denied=True)
    if before is None or clause.own or mark == ".":
        return clause
    if mark == "but" and before.negative:
        return None  # such as "no cause, but a fix"
    return clause._replace(negative=before.negative, denied=before.denied)


def _limits(clause: Clause) -> bool:
    """Whether the clause says when something must not be done."""
    return any(topic.yes is None and not topic.weak for topic in clause.topics)


def _changes(clause: Clause) -> Options | None:
    """The options that a clause changes; None for a request that its topics can't meet."""
    if clause.only and (
        clause.denied or not (clause.negative or any(one.only or one.yes == "show" for one in clause.topics))
    ):
        return None
    if clause.alters and not all(
        topic.thing or topic.yes is None or (topic.weak and not clause.negative) for topic in clause.topics
    ):
        return None
    if clause.early and any(topic.yes is not None and not topic.early for topic in clause.topics):
        return None
    limited = [topic for topic in clause.topics if topic.yes is None]
    if limited and (not clause.negative or len({topic.no for topic in clause.topics}) > 1):
        return None
    if clause.late and not all(topic.message for topic in clause.topics):
        return None
    options: Options = {}
    if clause.negative and all(topic.no is None for topic in clause.topics):
        return None
    for topic in clause.topics:
        words = topic.yes or ""
        if clause.early and topic.early:
            words = topic.early
        if clause.only and topic.only:
            words += f" {topic.only}"
        if clause.negative:
            words = topic.no or ""
            if clause.early and topic.early:
                words = " ".join(f"-{name}" for name in _options(topic.early) if name != topic.yes)
                if not words:
                    return None  # such as "don't test first": it says nothing of later
        options |= _options(words)
    return options


def _options(words: str) -> Options:
    return {word.removeprefix("-"): not word.startswith("-") for word in words.split()}
