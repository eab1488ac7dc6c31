"""The search that found something has failed

Lesson 06 · difficulty 1 of 5 · 5 minutes

A search in a log finds its text, and the step is reported as failed.

    failed: read the manual
"""

# %% program
"""Run the steps of a plan and report which of them failed."""


def run_plan(tools):
    """Call each tool, by step id; return the results by step id, and the list of the steps
    that failed.

    A step has failed if its tool raised. Every value that a tool returns is a result.
    """
    results = {}
    for id, tool in tools.items():
        try:
            results[id] = tool()
        except Exception as error:
            results[id] = f"ERROR: {error}"
    failed = [id for id, result in results.items() if str(result).startswith("ERROR")]
    return results, failed


def search_log():
    return "ERROR 401: 3 lines in the log"


def read_manual():
    raise FileNotFoundError("no manual")


if __name__ == "__main__":
    _, failed = run_plan({"search the log": search_log, "read the manual": read_manual})
    print("failed:", ", ".join(failed))


# %% test
def breaks():
    raise ValueError("no such table")


def test_a_result_can_begin_with_any_words(program):
    for text in (
        "ERROR 401 appears in the log",
        "ERROR: found in line 7",
        "Error rates fell",
        "failed: none",
    ):
        results, failed = program.run_plan({"1": lambda text=text: text})
        assert failed == [], f"the tool returned {text!r} and did not raise; reported as failed: {failed}"
        assert results["1"] == text, f"the tool returned {text!r}; the result is {results['1']!r}"


def test_a_tool_that_raises_has_failed(program):
    _, failed = program.run_plan({"1": lambda: "fine", "2": breaks, "3": lambda: "fine"})
    assert failed == ["2"], f"step 2 raised; reported as failed: {failed}"


def test_a_tool_can_quote_an_earlier_failure(program):
    earlier, _ = program.run_plan({"1": breaks})
    quoted = str(earlier.get("1", "nothing"))
    _, failed = program.run_plan({"1": lambda: quoted})
    assert failed == [], f"a tool quoted {quoted!r} from an earlier run and did not raise; reported as failed: {failed}"


def test_a_result_can_be_any_value(program):
    results, failed = program.run_plan({"1": list, "2": lambda: None, "3": lambda: {"error": None}})
    assert failed == [], f"the tools returned [], None and a dict; reported as failed: {failed}"
    assert results == {"1": [], "2": None, "3": {"error": None}}, f"the results are {results}"


# %% hints
HINT = """Two very different values end up in the same place. Look at what is stored for each of the two steps."""
QUESTION = """How could the program tell a failure from a text about a failure, if it sees only the text?"""
SEEN = """A tutorial, "Planner-Executor architecture": its replanning starts when a result begins with "ERROR". The same was
reported of agents in use: unsloth, pull request 10554, took a build log that begins with "Errors: 0" for a failed
call; agentscope-java, pull request 2751, explains why text can't carry success and failure."""
