PAGE = "see {step_2_result} and {step_1_result}"
SECRET = "the firm's secret, {step_1_result}"


def test_a_result_is_never_searched_for_references(program):
    for results in ({"1": PAGE, "2": SECRET}, {"2": SECRET, "1": PAGE}):
        for id in results:
            resolved = program.resolve(f"Send {{step_{id}_result}}.", results)
            assert resolved == f"Send {results[id]}.", (
                f"the text names step {id} alone, whose result is {results[id]!r}; it gave {resolved!r}"
            )


def test_a_text_can_name_several_steps(program):
    resolved = program.resolve("{step_2_result}|{step_1_result}|{step_2_result}", {"1": PAGE, "2": SECRET})
    assert resolved == f"{SECRET}|{PAGE}|{SECRET}", f"three references; it gave {resolved!r}"


def test_other_braces_stay(program):
    for text in ('{"a": {"b": 1}}', "{ {step_9_result} {}", "{step_1_result!r}", "{step_1_result.__class__}", "{{}}"):
        resolved = program.resolve(text, {"1": "one"})
        assert resolved == text, f"{text!r} names no step with a result; it gave {resolved!r}"


def test_a_result_stays_as_it_is(program):
    for result in ("{x}", "{{x}}", r"a\1b\g<0>", "}{", "100 %"):
        resolved = program.resolve("<{step_1_result}>", {"1": result})
        assert resolved == f"<{result}>", f"the result is {result!r}; it gave {resolved!r}"
