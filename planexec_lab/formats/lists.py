"""Plain lists of steps, as people and models write them: ``1. Analyze the schema``, ``2) …``, ``Step 3: …``, ``- …``.

``(after 1, 2)``, ``depends on steps 1-3``, ``<deps: 1>`` or ``after the previous step`` says what an item waits for. In a list
without any such words each step waits for the one before it; in a list with some, an item without them waits for none.

Nothing that could change the order is read as plain words: an item that names another step must wait for it, directly or
not; words about order that can't be read are a fault, and so is an item that would wait for nothing although it says "then"
or has the number of an earlier item. Items that are ticked off, ``[x]``, are done: they are left out and listed, as are the lines
above the list.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from planexec_lab.formats import calls, labels
from planexec_lab.formats.shapes import fault, left_out
from planexec_lab.formats.steps import build, through, unwritable
from planexec_lite.plan import Plan, PlanError, Problem

_MARK = r"(?:#{1,6}[ \t]+)?(?:\*\*|__)?(?:step[ \t]+)?"
_NUMBER = r"(?:\(#?(?P<inside>[0-9]{1,9})\)|#?(?P<number>[0-9]{1,9})(?:[.):]|[ \t]+[-–—](?=[ \t])))"

_ITEM = re.compile(
    rf"(?P<indent>[ \t]*)(?:(?P<bold>{_MARK}){_NUMBER}|[-*+•])(?P<closed>\*\*|__)?[ \t]+(?P<text>.*)", re.IGNORECASE
)
_FIELD = re.compile(r"[a-z_][\w.-]*:(?=\s|$)")  # of an object in YAML
_BOX = re.compile(r"\[(?P<tick>[ xX✓✔])\][ \t]+")
_GOAL = re.compile(r"[ \t]*(?:#+[ \t]*)?(?:Goal|Task):[ \t]*(.*)", re.IGNORECASE)
_HEADING = re.compile(
    r"[ \t]*(?!(?:nodes?|edges?)[ \t]*:)(?:#{1,6}[ \t]+\S.*|(?:\*\*|__)?\S.*:(?:\*\*|__)?)[ \t]*", re.I
)

_HERE_IS = re.compile(
    r"\W*(?:(?:here|this)(?:'s|\s+(?:is|are))\s+)?(?:(?:the|my|a|your|our)\s+)?(?:plan|steps?|tasks?|list|to-?dos?)\W*",
    re.IGNORECASE,
)

_STEP = r"(?:the[ \t]+)?(?:steps?|tasks?|items?)"
_ONE = rf"(?:{_STEP}\s+)?#?[0-9]{{1,9}}"
_RANGE = rf"{_ONE}(?:\s*(?:-|–|—|\.\.\.?|\bto\b|\bthrough\b)\s*{_ONE})?"
_NUMBERS = rf"(?:both\s+)?{_RANGE}(?:(?:\s*[,;]\s*(?:and\s+)?|\s+and\s+|\s*[&+]\s*){_RANGE})*"
_EARLIER = (
    r"(?:the\s+)?(?:previous|preceding|prior|last)(?:\s+(?:one|step|task|item))?|the\s+(?:step|one)\s+(?:above|before)"
)
_EVERY = (
    r"(?:all|every|each)(?:\s+(?:of\s+)?the)?(?:\s+(?:previous|preceding|prior|earlier|above|other))?"
    r"(?:\s+(?:ones?|steps?|tasks?|items?))?(?:\s+above)?|everything(?:\s+(?:above|before))?"
)
_NONE = r"nothing|none|no\s+(?:steps?|others?)|n/?a|\[\s*\]"
_WHAT = rf"\[?(?:(?P<ids>{_NUMBERS})|(?P<earlier>{_EARLIER})|(?P<every>{_EVERY})|(?P<none>{_NONE}))(?![\w/])\]?"
_WORDS = (
    r"(?:\w+ly\s+)?(?:only\s+)?(?:after|once|when|following|depend(?:s|ent|ing|encies|ency)?(?:\s+(?:up)?on)?|deps?|needs|requires"
    r"|waits?\s+for|waiting\s+for|prerequisites?|predecessors?|parents?|upstream|blocked\s+by|follows)"
)
_END = r"(?:\s+(?:is|are|has|have|been|was|were|completed?|completes|completion|done|finished|finish(?:es)?|succeeds?|passe[sd]))*"
_OPEN, _CLOSE = r"[(\[{<]", r"[)\]}>]"
_INSIDE = r"[^)\]}>]{0,200}"  # bounded, so that a text of many brackets is read in linear time
_HINTS = [
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"{_OPEN}\s*{_WORDS}\s*[:=]?\s*{_WHAT}{_END}\s*{_CLOSE}",  # (after 1, 2)
        rf"{_OPEN}\s*(?P<none>no\s+(?:dependenc\w+|prerequisites?)|independent)\s*{_CLOSE}",
        rf"\b(?:depend\w*(?:\s+(?:up)?on)?|deps|prerequisites?|blocked\s+by)\s*[:=]?\s*{_WHAT}{_END}",  # depends on 1
        rf"\b{_WORDS}\s*:?\s+(?=(?:both\s+)?{_STEP}\b|all\s|the\s+p|the\s+step|previous\s){_WHAT}{_END}",  # after step 1
    )
]
_EMPHASIS = re.compile(r"\*\*|__|(?<!\w)[*_`]|[*_`](?!\w)")
_ORDER = re.compile(
    rf"{_OPEN}\s*{_WORDS.replace('|needs|requires', '')}\b"  # (after the copy)
    rf"|{_OPEN}{_INSIDE}\b(?:after|depend\w*|deps?|blocked|waits?\s+for)\b\W*(?:on\W+)?(?:{_STEP}\s+)?#?[0-9]"
    rf"|{_OPEN}{_INSIDE}\b(?:before|until|un?blocks|blocks|enables)\s+(?:{_ONE}|{_STEP})\b"  # (before 3)
    rf"|\b(?:if|unless)\s+{_ONE}\b|^\W*(?:else|otherwise)\b"
    rf"|{_OPEN}{_INSIDE}\b(?:parallel|concurrent\w*|simultaneous\w*|same\s+time|any\s+order)\b"
    rf"|\b(?:in\s+parallel|concurrently|simultaneously|at\s+the\s+same\s+time)\s+(?:with|as|to)\s+{_ONE}\b"
    r"|(?:<?[-=]{1,5}>|<[-=]{1,5}|[→←])\s*#?[0-9]"  # <- 1
    rf"|(?:{_ONE})\s+or\s+(?:{_STEP}\s+)?#?[0-9]+\b(?=\s*(?:{_CLOSE}|[.!]*$))",  # (after 1 or 2)
    re.IGNORECASE,
)
_TOGETHER = re.compile(
    r"\b(?:parallel|concurrent\w*|simultaneous\w*|same\s+time|any\s+order|optional\w*|either|one\s+of)\b", re.IGNORECASE
)
_NAMED = re.compile(
    rf"\b(?:steps|tasks|items)\s+(?P<many>{_NUMBERS})|\b(?:step|task|item)\s+#?(?P<one>[0-9]{{1,9}})\b", re.IGNORECASE
)
_LIKELY = re.compile(  # in a list with words about order, an item that says none waits for nothing, so these are asked about
    r"^(?:then|next|finally|lastly)\b|\b(?:first|last|only\s+then)\W*$|\bat\s+the\s+(?:very\s+)?end\b"
    r"|\b(?:after\w*|thereafter|before(?:hand)?|subsequent\w*|meanwhile|while|until|unless|if|when|once|provided|pending|upon)\b"
    r"|\b(?:as\s+soon\s+as|subject\s+to|follow(?:s|ing|-up)|builds?\s+on|triggers?|trigger\w*\s+by|on\s*success|waits?|nach|contingent|conditional)\b"
    r"|[≥>]|\b(?:given|post)\s+#?[0-9]"
    r"|\b(?:steps?|tasks?|items?)\s+(?:one|two|three|four|five|six|seven|eight|nine|ten)\b"
    r"|\b(?:first|second|third|fourth|fifth|[0-9]+(?:st|nd|rd|th)|previous|preceding|prior|earlier|above|both|others?)\s+"
    r"(?:\w+\s+)?(?:steps?|tasks?|items?|ones?)\b",
    re.IGNORECASE,
)
_PLAIN = re.compile(  # "2", "#2" and "$2", but neither "2.5" nor "2 files"
    r"(?<![\w.,:/%-])[#$(\[{]{0,9}[EST]?(?P<id>[0-9]{1,9})(?![\w/%:-]|[.,][0-9])"
    r"(?!\s+(?!is\b|has\b|was\b|(?:succeed|passe|finishe|complete|run|work|end)s\b)[a-z]+s\b)"
)
_SPAN = re.compile(r"#?([0-9]+)(?:\s*(?:-|–|—|\.\.\.?|\bto\b|\bthrough\b)\s*(?:[a-z]+\s+)*#?([0-9]+))?", re.IGNORECASE)
_MOST = 1_000  # numbers in a range; a longer one is no range of steps
_MEND = "write an item a line, '1. what to do', and what it waits for at its end: '(after 1, 2)'"


@dataclass
class _Item:
    """An item: its number as written, its line, its text, whether it is ticked off; then its id and what it waits for."""

    number: str
    line: int
    lines: list[str]
    done: bool = False
    id: str = ""
    text: str = ""
    waits_for: list[str] = field(default_factory=list)
    hinted: bool = False


def recognises(data: str) -> bool:
    """Is this a text that begins with an item, a goal or a heading, and has items?"""
    lines = [line for line in data.splitlines() if line.strip()]
    first = next((place for place, line in enumerate(lines) if _ITEM.match(line)), None)
    return first is not None and all(_GOAL.match(one) or _HEADING.fullmatch(one) for one in lines[:first])


def read(data: str) -> Plan:
    """Read the list; ``Goal: …`` above it is the goal, an indented line continues its item."""
    goal, items, outer, remarks = "", list[_Item](), "", list[Problem]()
    for line, text in enumerate(data.splitlines(), 1):
        item = _ITEM.fullmatch(text)
        if item:
            outer = outer if items else item["indent"]
            if items and len(item["indent"].expandtabs()) > len(outer.expandtabs()) + 1:
                raise fault(f"line {line}: {_short(text)} is a list within a step", "write all steps in one list")
            number = item["inside"] or item["number"] or ""
            if items and bool(number) != bool(items[0].number):
                raise fault(f"line {line}: {_short(text)} is mixed with items of another kind", _MEND)
            items.append(_item(item, number, line))
        elif not items and (above := _GOAL.fullmatch(text)):
            remarks += [left_out(f"the goal {_short(goal)}")] if goal else []
            goal = above[1].strip()
        elif not items and _HEADING.fullmatch(text):
            if words := _ORDER.search(text) or _LIKELY.search(text) or _TOGETHER.search(text):
                mend = "say at each item what it waits for: '(after 1)' or '(after nothing)'"
                raise fault(f"line {line}: {words[0]!r} in {_short(text)} could be about order", mend)
            remarks += [] if _HERE_IS.fullmatch(text) else [left_out(_short(text), line)]
        elif text.strip():
            if not items or not text[:1].isspace():
                raise fault(f"line {line}: {_short(text)} is no item of the list", _MEND)
            items[-1].lines.append(text.strip())
    steps = _steps(items)
    remarks += [left_out(f"{_short(item.text)}, which is ticked off", item.line) for item in items if item.done]
    return build(steps, goal, {item.id: item.line for item in items}, remarks)


def write(plan: Plan) -> str:
    """Write the list; what a step waits for is left to the order where each waits for the one before it."""
    for step in plan.steps:
        if not step.id.isdecimal():
            message = f"an item of a list has a number, and this step is called {step.id!r}"
            raise unwritable(step.id, message, "number the steps")
    ids, after = [step.id for step in plan.steps], [list(step.depends_on) for step in plan.steps]
    in_order = after == [ids[max(place - 1, 0) : place] for place in range(len(ids))]
    lines = [f"Goal: {plan.goal}"] if plan.goal else []
    for step, others in zip(plan.steps, after, strict=True):
        hint = "" if in_order else f" (after {', '.join(others) or 'nothing'})"
        lines.append(f"{step.id}. {step.description}{hint}")
    return "\n".join([*lines, ""])


def _short(text: str) -> str:
    return repr(text.strip()[:60])


def _item(match: re.Match[str], number: str, line: int) -> _Item:
    text = match["text"].strip()
    if match["bold"] and match["bold"].rstrip().endswith(("**", "__")) and not match["closed"]:
        text = text.replace("**" if "**" in match["bold"] else "__", "", 1)  # **1. Load** it
    box = _BOX.match(text)
    done = box is not None and box["tick"] != " "
    return _Item(number, line, [text[box.end() :] if box else text], done)


def _steps(items: list[_Item]) -> list[dict[str, Any]]:
    by_place = {item.number for item in items} <= {"", "1"}  # Markdown numbers items itself: each can have the number 1
    for place, item in enumerate(items, 1):
        item.id = str(place) if by_place else item.number
    for place, item in enumerate(items):
        first, second = [*item.lines, ""][:2]
        if not item.number and (_FIELD.match(first) or first.endswith(":")) and _FIELD.match(second):
            raise fault(f"line {item.line}: {_short(first)} begins an object, not an item", _MEND)
        _read_hints(item, items, place)
        if state := labels.STATE.search(item.text) or labels.DONE.match(item.text):
            mend = "leave out what is not to be done, or write [ ] or [x] before each item"
            raise fault(f"line {item.line}: {state[0]!r} can mean that the item is done or left out", mend)
        if calls.looks_like_one(item.text):
            mend = 'write numbered calls, 1. search("Oslo"), with a dot; or words that are no call'
            raise fault(f"line {item.line}: {_short(item.text)} looks like a call", mend)
    if not any(item.hinted for item in items):
        numbers = [int(item.id) for item in items]
        for place, item in enumerate(items[1:], 1):
            if numbers[place] <= numbers[place - 1]:
                message = f"line {item.line}: item {item.id} comes after item {items[place - 1].id}"
                raise fault(message, "write the items in the order of their numbers, or say '(after 1)' at each")
            item.waits_for = [items[place - 1].id]
    _check_words(items)
    _check_names(items)
    done = {item.id: item.waits_for for item in items if item.done}
    if done and len(done) == len(items):
        raise fault(f"line {items[0].line}: every item is ticked off, so no step remains", "write what is to be done")
    return [
        {"id": item.id, "description": item.text, "depends_on": through(item.waits_for, done)}
        for item in items
        if not item.done
    ]


def _read_hints(item: _Item, items: list[_Item], place: int) -> None:
    """Take the words about order out of the text of `item`; raise `PlanError` for those that can't be read."""
    text = " ".join(item.lines)
    bare = _EMPHASIS.sub("", text)
    text = bare if any(pattern.search(bare) for pattern in _HINTS) else text
    for pattern in _HINTS:
        kept, end = list[str](), 0
        for hint in pattern.finditer(text):
            item.hinted = True
            item.waits_for += _meant(item, hint, items, place)
            if not text[hint.end() :].strip(" .!?…;,"):  # it is the end of the item
                kept, end = [*kept, re.sub(r"\s*[,;:–—-]?\s*$", "", text[end : hint.start()])], len(text)
            else:
                kept, end = [*kept, text[end : hint.start() if hint[0][0] in "([{<" else hint.end()]], hint.end()
        text = "".join([*kept, text[end:]])
    item.waits_for = list(dict.fromkeys(item.waits_for))
    item.text = re.sub(r"(?<=\S)[ \t]{2,}", " ", text).strip()
    if order := _ORDER.search(item.text):
        raise _unread(item, f"{_short(item.text[order.start() :])} is about order and can't be read")


def _meant(item: _Item, hint: re.Match[str], items: list[_Item], place: int) -> list[str]:
    """Return the ids that a hint means; `item` is at `place` in `items`."""
    words = hint.groupdict()
    if words.get("ids"):
        return _numbers(words["ids"], item)
    if words["none"]:
        return []
    if not place:
        raise _unread(item, f"{hint[0].strip()!r} is at the first item, and nothing is before it")
    return [one.id for one in items[0 if words["every"] else place - 1 : place]]


def _numbers(text: str, item: _Item) -> list[str]:
    ids = []
    for first, last in _SPAN.findall(text):
        if last and not 0 <= int(last) - int(first) < _MOST:
            raise _unread(item, f"{text!r} is no range of items")
        ids += [str(number) for number in range(int(first), int(last) + 1)] if last else [first]
    return ids


def _check_words(items: list[_Item]) -> None:
    """Raise `PlanError` for words that could say that an item waits for another one, and were not read."""
    hinted, places = any(item.hinted for item in items), {item.id: place for place, item in enumerate(items)}
    for place, item in enumerate(items):
        words = _LIKELY.search(item.text)
        numbers = {number["id"]: number.start() for number in _PLAIN.finditer(item.text)}
        if hinted and not item.hinted:  # it waits for nothing
            doubts = (place and words is not None) or any(places.get(id, place) < place for id in numbers)
        else:
            later = {id for id in numbers if places.get(id, -1) > (-1 if hinted else place)}
            others = later.difference(item.waits_for, [item.id])
            doubts = words is not None and any(numbers[id] >= words.end() for id in others)
        if doubts:
            raise _unread(item, f"{words[0] if words else 'a number'!r} could be about order")


def _check_names(items: list[_Item]) -> None:
    """Raise `PlanError` for an item that names another one and does not wait for it, directly or not."""
    by_id, before = {item.id: item for item in items}, dict[str, set[str]]()

    def all_before(id: str) -> set[str]:
        seen, left = set[str](), [id]
        while left:
            for other in by_id[left.pop()].waits_for:
                if other in by_id and other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen

    for item in items:
        for named in _NAMED.finditer(item.text):
            for id in _numbers(named["many"] or named["one"], item):
                if id in by_id and id != item.id and id not in before.setdefault(item.id, all_before(item.id)):
                    raise _unread(item, f"it names step {id}, and does not wait for it")
        last = re.search(r"\bafter\s+#?([0-9]+)[.!]*$", _EMPHASIS.sub("", item.text), re.IGNORECASE)
        if last and last[1] in by_id and last[1] != item.id:
            raise _unread(item, f"{last[0]!r} can be a step or a number")


def _unread(item: _Item, message: str) -> PlanError:
    mend = (
        "write what it waits for at its end, '(after 1, 2)' or '(after nothing)'; spell out a number that is not a step"
    )
    return fault(f"line {item.line}: {_short(' '.join(item.lines))}: {message}", mend)
