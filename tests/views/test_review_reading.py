"""Read before you approve: a planner can hide no part of an approved plan."""

from typing import Any
from urllib.parse import unquote

import pytest

from planexec_lab import views
from planexec_lab.connect import connect
from planexec_lab.views.drawing.visible import code, visible
from planexec_lab.worlds import deploy, migration
from planexec_lite import AskPerson, LLMPlanner, Plan, PlannerExecutor, Toolbox, ToolExecutor, tool
from tests.views.desks import desk, fill, press
from tests.views.test_review_desk import words

LONG = "Dear team, the release is on its way. " * 40 + "AND DELETE ALL" + " Kind regards." * 40
UNSEEN = [
    chr(number) for number in (0x200B, 0x202E, 0x2066, 0xA0, 0x2003, 0x3164, 0x2800, 0x34F, 0xFE0E, 0xE0041, 0x2028, 13)
]


def booked(**fields: Any) -> Plan:
    step = {"id": "1", "tool": "book", "params": {"hotel": "Sol"}, "description": "Book", **fields}
    return Plan.parse({"goal": "Go", "steps": [step]})


def nested(text: Any, depth: int = 30) -> Any:
    return [{"more": nested(text, depth - 1)}] if depth else text


PLACES = {  # where a plan has text -> a plan that has this text there
    "argument": lambda text: booked(params={"hotel": text}),
    "nested": lambda text: booked(params={"hotel": "Sol", "extra": nested(text)}),
    "name": lambda text: booked(params={text: "Sol"}),
    "tool": lambda text: booked(tool=text),
    "description": lambda text: booked(description=text),
    "criterion": lambda text: booked(success_criteria=text),
    "undo": lambda text: booked(undo={"tool": "cancel", "params": {"hotel": text}}),
    "rollback": lambda text: booked().changed(rollback=({"tool": "cancel", "params": {"hotel": text}},)),
    "answer": lambda text: booked().changed(answer=text),
    "goal": lambda text: booked().changed(goal=text),
}
anywhere = pytest.mark.parametrize("place", PLACES)


@pytest.mark.parametrize("place", [place for place in PLACES if place not in ("name", "tool")])
def test_a_long_text_is_there_to_its_last_word(place: str) -> None:
    shown = desk(PLACES[place](LONG))
    assert "AND DELETE ALL" in words(shown)
    assert "Kind regards." * 40 in words(shown).replace(" Kind", "Kind")
    assert "ANDDELETEALL" in "".join(repr(shown).split())
    assert "…" not in words(shown) + repr(shown)


@anywhere
def test_what_can_not_be_seen_or_looks_like_another_is_shown_as_its_code(place: str) -> None:
    shown = desk(PLACES[place](f"{' '.join(f'so{char}l' for char in UNSEEN)} аlice@bank.com"))  # a Cyrillic а
    for text in (words(shown), "".join(repr(shown).split())):
        assert [code(char) for char in UNSEEN if code(char) not in text] == []
        assert [char for char in UNSEEN if char in text] == []
        assert r"\u0430" in text
        assert "а" not in text


def test_hidden_characters_of_a_field_are_named_and_quotes_escaped() -> None:
    shown = desk(booked(params={"hotel": "so\u200bl"}))
    press(shown, "Edit 1")
    assert "zero width space" in words(shown)
    fill(shown, "1: hotel", "sol")
    assert "zero width space" not in words(shown)
    assert "book(hotel=&quot;Sol&#x27;, price=&#x27;0&quot;)" in words(desk(booked(params={"hotel": "Sol', price='0"})))


ODD = {  # what somebody may take for something else -> how it is shown
    "аlice@bank.com": r"\u0430lice@bank.com",
    "сосо@bank.com": r"\u0441\u043e\u0441\u043e@bank.com",
    "сосо": r"\u0441\u043e\u0441\u043e",
    "Напиши: сосо@bank.com": r"Напиши: \u0441\u043e\u0441\u043e@bank.com",
    "αdmin": r"\u03b1dmin",
    "ΑBC": r"\u0391BC",
    "Ꭺlice": r"\u13aalice",
    "Пpивет": r"П\x70ивет",
    "ａdmin１": r"\uff41dmin\uff11",
    "𝐚lice": r"\U0001d41alice",
    "1２3 and 5৪": r"1\uff123 and 5\u09ea",
    "৪": r"\u09ea",
    "bank．com": r"bank\uff0ecom",
    "https∶//bank": r"https\u2236//bank",
    "ᴀdmin": r"\u1d00dmin",
}
PLAIN = [
    "Привет, мир", "а он сказал", "см. файл.txt", "Москва-Berlin", "по-русски", "Ελλάδα 2024", "α = 0.05", "5 kΩ", "Δt",
    "日本語 Tシャツ", "日本，東京！", "한국어 ABC", "हिन्दी १२", "العربية ١٢٣", "straße", "x²+y²", "№ 5", "①", "“q” – d…", "10 °C",
    "👩‍🚀 ❤️", "می‌خواهم", "שלום", "naïve café",
]  # fmt: skip


@pytest.mark.parametrize(("text", "shown"), [*ODD.items(), *((text, text) for text in PLAIN)])
def test_only_a_letter_that_looks_like_another_is_shown_as_its_code(text: str, shown: str) -> None:
    assert visible(text).strip("\u2068\u2069") == shown


def test_right_to_left_text_is_isolated_and_blanks_are_counted() -> None:
    assert visible("שלום") == "\u2068שלום\u2069"
    lines = repr(desk(booked(params={"hotel": "שלום " * 30, "price": 12}))).splitlines()
    assert all(line.count("\u2068") == line.count("\u2069") for line in lines)
    assert all("\u2068" in line for line in lines if "ש" in line)
    shown = desk(booked(params={"hotel": "Sol" + " " * 900 + "now" + "\n" * 700 + "AND DELETE ALL  "}))
    for text in ("␣×900", "699 empty lines", "AND DELETE ALL", "␣×2"):
        assert text in words(shown)
    assert "ANDDELETEALL" in "".join(repr(shown).split())


def test_what_bounds_a_step_and_what_is_beside_the_steps_is_shown() -> None:
    plan = booked(timeout=5, retries=3, gate=True, success_criteria="it is ours")
    plan = plan.changed(rollback=({"tool": "cancel", "params": {"hotel": "Sol"}},), answer="the answer", complete=False)
    shown = desk(plan)
    for what in ("times out after 5 s", "tried again up to 3 times", "asks before it starts", "it is ours", "cancel(hotel=",
                 "the answer", "The planner is asked again when these steps are done."):  # fmt: skip
        assert what in words(shown)
        assert "".join(what.split()) in "".join(repr(shown).split())


def test_time_risks_and_edits_of_a_plan_are_in_its_graph() -> None:
    world = deploy.World()
    shown = desk(Plan.parse(deploy.PLAN), world.tools)
    assert "the plan takes at least 266 s." in repr(shown)
    press(shown, "Edit 4")
    fill(shown, "4: tag", "v9")
    press(shown, "Edit 5")
    fill(shown, "5: description", "Look at staging")
    graph = unquote(words(shown))
    assert "At least 266 s: 7 of 8 steps must follow one another" in graph
    assert "4, no undo, ≠ changed, after 2; 5, changed, after 4; 6, no undo, after 3 and 5" in graph
    press(shown, "Back to the planner's plan")
    assert "changed, after" not in unquote(words(shown))


def test_what_a_run_has_used_is_beside_its_plan() -> None:
    world = deploy.World()
    planner = LLMPlanner(connect("deploy"))
    run = PlannerExecutor(planner, ToolExecutor(world.tools), reviewer=AskPerson()).run(deploy.GOAL)
    assert run.status == "paused"
    tokens = run.usage.input_tokens + run.usage.output_tokens
    assert f"The run has used 1 model call, {tokens:,} tokens" in repr(views.desk(run, world.tools))


def test_a_long_plan_and_its_changes_are_shown_to_the_last_step() -> None:
    steps = [{"id": str(n), "tool": "book", "params": {"hotel": f"h{n}"}} for n in range(50)]
    changed = [one | {"params": {"hotel": f"Ritz {n}"}} for n, one in enumerate(steps)]
    after = Plan.parse(changed).changed(rollback=({"tool": "book", "params": {"hotel": "Sol"}},))
    text = words(desk(after, before=Plan.parse(steps)))
    assert all(f"Step {n}, hotel: &quot;h{n}&quot; → &quot;Ritz {n}&quot;" in text for n in range(50))
    assert "The plan&#x27;s rollback: nothing → book(hotel=" in text


# --- what can't be taken back -----------------------------------------------------------------------------------------


@tool(effects="unknown")
def call_api(path: str) -> str:
    """Call somebody's server."""
    return path


def test_undeclared_effects_are_called_so() -> None:
    shown = desk(Plan.parse([{"id": "1", "tool": "call_api", "params": {"path": "/a"}}]), Toolbox([call_api]))
    assert "1 declares no effects; can't be undone: 1" in words(shown).replace("&#x27;", "'")
    assert "declares no effects, no undo" in repr(shown)
    assert words(shown).count("! declares no effects, no undo") == 1
    shown.controls["Approve"].click()
    assert words(shown).count("! declares no effects, no undo") == 2


def test_a_yes_that_can_not_be_taken_back_is_asked_for_twice_in_words() -> None:
    shown = desk(Plan.parse(migration.DANGEROUS_PLAN), migration.World().tools)
    assert words(shown).count("‼ might delete or overwrite, can&#x27;t be undone") == 1
    assert words(shown).count("! runs at most once, can&#x27;t be undone") == 1
    shown.controls["Approve"].click()
    assert not shown.decided
    delete, notify = shown._stand.value.split("</li>")[:2]
    assert "<b>3</b> <bdi>delete_database()</bdi>" in delete
    assert "might delete or overwrite, can&#x27;t be undone" in delete
    assert "<b>2</b> <bdi>notify_team(message=" in notify
    assert "runs at most once, can&#x27;t be undone" in notify
    press(shown, "Back to the plan")
    assert "Yes, approve" not in shown.controls
    shown.controls["Approve"].click()
    press(shown, "Yes, approve")
    assert shown.decision.verdict == "approve"


def test_an_edit_takes_the_question_back() -> None:
    shown = desk(booked())
    press(shown, "Edit 1")
    shown.controls["Approve"].click()
    yes = shown.controls["Yes, approve"]
    fill(shown, "1: hotel", "Ritz")
    yes.click()  # it was on its way when the plan changed
    assert not shown.decided
