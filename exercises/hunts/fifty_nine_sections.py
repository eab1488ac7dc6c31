"""A report with fifty-nine sections

Lesson 05 · difficulty 2 of 5 · 10 minutes

A search finds three trends. The report counts far more than three sections.

    ['Wind is growing', 'Solar is so cheap', 'Storage is slow']
    report with 3 sections
"""

# %% program
"""Put the results of earlier steps into the parameters of a step, and call its tool."""


def resolve(value, results):
    """Return a parameter with its references resolved, such as {step_1_result}.

    A parameter that consists of one reference becomes the result itself. Inside a longer
    string, a result is inserted as text. In a list, each item is resolved.
    """
    for id, result in results.items():
        value = value.replace(f"{{step_{id}_result}}", str(result))
    return value


def write_report(sections):
    return f"report with {len(sections)} sections"


FOUND = ["Wind is growing", "Solar is so cheap", "Storage is slow"]

if __name__ == "__main__":
    print(FOUND)
    print(write_report(resolve("{step_1_result}", {"1": FOUND})))


# %% test
def test_a_parameter_that_is_one_reference_becomes_the_result(program):
    for result in (
        ["a", "b"],
        [],
        {"rows": 3},
        42,
        4.5,
        True,
        None,
        "text",
        "['a', 'b']",
        "12",
    ):
        resolved = program.resolve("{step_1_result}", {"1": result})
        kept = type(resolved) is type(result) and resolved == result
        assert kept, f"the result of step 1 is {result!r}; resolve('{{step_1_result}}') gave {resolved!r}"


def test_inside_a_text_a_result_is_written_as_text(program):
    resolved = program.resolve("{step_1_result} of {step_2_result}", {"1": 3, "2": ["a"]})
    assert resolved == "3 of ['a']", f"two references in one text; it gave {resolved!r}"


def test_each_item_of_a_list_is_resolved(program):
    resolved = program.resolve(["{step_1_result}", "and {step_2_result}", "end"], {"1": [1], "2": 2})
    assert resolved == [[1], "and 2", "end"], f"a list with two references; it gave {resolved!r}"


def test_a_text_without_references_stays(program):
    resolved = program.resolve("a, b, c", {"1": 1})
    assert resolved == "a, b, c", f"it gave {resolved!r}"


# %% hints
HINT = """The number is not random. What has exactly that many parts? Print what the tool receives."""
QUESTION = """Which type goes into the replacement, and which type comes out?"""
SEEN = """A tutorial, "Planner-Executor architecture": its write_report expects a list of sections and receives a string,
because every result is converted to a string. It counts the letters: 59 "sections"."""
