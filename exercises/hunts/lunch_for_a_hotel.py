"""Lunch for a hotel

Lesson 05 · difficulty 1 of 5 · 5 minutes

A step searches for lunch at a certain price. The search is sent with a hotel instead of the price.

    Find lunch in Lisbon in May for $5.
"""

# %% program
"""Insert the results of earlier steps into the text of a step."""

import re

REFERENCE = re.compile(r"\$\{?(\d+)\}?")


def resolve(text, results):
    """Return the text with each reference, written ${3}, replaced by the result of that
    step.

    `results` maps step numbers to results. A reference without a result stays as it is; $3
    is three dollars.
    """
    return REFERENCE.sub(lambda match: str(results.get(int(match[1]), match[0])), text)


RESULTS = {1: "Lisbon", 2: "May", 3: "the tram", 4: "the castle", 5: "a hotel by the river"}

if __name__ == "__main__":
    print(resolve("Find lunch in ${1} in ${2} for $5.", RESULTS))

# %% test
RESULTS = {1: "Lisbon", 2: "May", 5: "a hotel", 12: "rain"}


def test_a_price_stays_a_price(program):
    for text in ("lunch for $5", "$5, or $12.50", "$1,200 a month", "US$2", "{budget: $5}"):
        resolved = program.resolve(text, RESULTS)
        assert resolved == text, f"resolve({text!r}) gave {resolved!r}: a price is no reference"


def test_a_reference_gets_its_result(program):
    resolved = program.resolve("${1} in ${2}: ${5}? ${12}.${1}", RESULTS)
    assert resolved == "Lisbon in May: a hotel? rain.Lisbon", f"five references; it gave {resolved!r}"


def test_a_text_can_contain_both(program):
    resolved = program.resolve("Is ${5} in ${1} below $5 a night? $5${5}", RESULTS)
    wanted = "Is a hotel in Lisbon below $5 a night? $5a hotel"
    assert resolved == wanted, (
        f"a reference to step 5 and a price of 5 dollars; it gave {resolved!r}, wanted {wanted!r}"
    )


def test_a_reference_without_a_result_stays(program):
    resolved = program.resolve("${7} and ${1}", RESULTS)
    assert resolved == "${7} and Lisbon", f"step 7 has no result; it gave {resolved!r}"


# %% hints
HINT = """The results are correct. Look at what counts as a reference."""
QUESTION = """Which texts does the pattern accept? Which of its characters are optional?"""
SEEN = """LLMCompiler, in its task fetching unit: besides ${1} it also accepts $1 as a reference, in case the planner makes
a mistake. LangGraph's former LLMCompiler notebook has the same pattern; LangGraph's issue 1459 shows it."""
