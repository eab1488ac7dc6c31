"""A plan works up to step nine

Lesson 05 · difficulty 2 of 5 · 5 minutes

Nine results are correct. With the tenth, a city appears that is on no map.

    Compare the rents of Lisbon and Split.
    Compare the rents of Lisbon and Porto.
"""

# %% program
"""Insert the results of earlier steps into the text of a step."""


def resolve(text, results):
    """Return the text with each reference, such as #E3, replaced by the result of that
    name.

    `results` maps names to texts, in the order in which the results came in. A name without
    a result stays as it is.
    """
    for name, result in results.items():
        text = text.replace(name, result)
    return text


CITIES = "Lisbon Oslo Rome Graz Bern Riga Lyon Turin Split Porto".split()

if __name__ == "__main__":
    results = {f"#E{n}": city for n, city in enumerate(CITIES, 1)}
    print(resolve("Compare the rents of #E1 and #E9.", results))
    print(resolve("Compare the rents of #E1 and #E10.", results))

# %% test
from random import Random

RESULTS = {f"#E{n}": f"<{n}>" for n in range(1, 121)}


def test_each_reference_gets_its_own_result(program):
    for n in (1, 2, 10, 11, 12, 100, 101, 120):
        resolved = program.resolve(f"Use #E{n}", RESULTS)
        assert resolved == f"Use <{n}>", f"resolve('Use #E{n}') gave {resolved!r}, wanted 'Use <{n}>'"


def test_a_reference_can_be_anywhere_in_the_text(program):
    resolved = program.resolve("#E1, #E10; (#E11) #E2#E20.#E12", RESULTS)
    assert resolved == "<1>, <10>; (<11>) <2><20>.<12>", (
        f"references without a space between them: it gave {resolved!r}"
    )


def test_results_can_arrive_in_any_order(program):
    names = list(RESULTS)
    for seed in range(20):
        Random(seed).shuffle(names)
        resolved = program.resolve("#E1 #E10 #E100 #E12 #E2", {name: RESULTS[name] for name in names})
        assert resolved == "<1> <10> <100> <12> <2>", f"with another order of arrival, it gave {resolved!r}"


def test_a_name_without_a_result_stays(program):
    resolved = program.resolve("#E1 and #E10", {"#E1": "one"})
    assert resolved == "one and #E10", f"#E10 has no result yet; it gave {resolved!r}"


# %% hints
HINT = """Replace by hand, one name after the other, and write down the text after each. Which replacement leaves a zero
behind?"""
QUESTION = """How does the program know where a name ends?"""
SEEN = """LangGraph's former ReWOO notebook: for each result it replaced the name in the text, so that #E10 became the value
of #E1 and a zero. Many projects still contain that loop."""
