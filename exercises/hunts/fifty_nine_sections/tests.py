def test_a_parameter_that_is_one_reference_becomes_the_result(program):
    for result in (["a", "b"], [], {"rows": 3}, 42, 4.5, True, None, "text", "['a', 'b']", "12"):
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
