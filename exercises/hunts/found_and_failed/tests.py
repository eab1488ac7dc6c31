def breaks():
    raise ValueError("no such table")


def test_a_result_can_begin_with_any_words(program):
    for text in ("ERROR 401 appears in the log", "ERROR: found in line 7", "Error rates fell", "failed: none"):
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
