def started(program, *texts):
    """Prompts of one name with these versions, the first of them released; a log."""
    prompts = program.Prompts()
    for text in texts:
        prompts.save("support", text)
    prompts.release("support", 1)
    return prompts, []


def asked(program, prompts, log, question="Why?", name="support", **label):
    """What the model was asked, and which version the log names."""
    heard = program.ask(str, prompts, name, question, log, **label)
    return heard, log[-1][1]


def test_a_release_takes_effect_at_the_next_question(program):
    prompts, log = started(program, "Old.", "New.")
    asked(program, prompts, log)
    prompts.release("support", 2)
    heard, _ = asked(program, prompts, log)
    assert heard == "New. Why?", f"version 2, 'New.', was released after the first question; the second was {heard!r}"


def test_a_release_can_be_reverted(program):
    prompts, log = started(program, "Old.", "New.")
    for version in (1, 2, 1):
        prompts.release("support", version)
        came = asked(program, prompts, log)
    assert came == ("Old. Why?", 1), f"version 1 was released again after version 2; asked and logged: {came}"


def test_each_label_points_to_its_own_version(program):
    prompts, log = started(program, "Old.", "New.")
    prompts.release("support", 2, "staging")
    for label, wanted in (("production", "Old. Why?"), ("staging", "New. Why?"), ("production", "Old. Why?")):
        heard, _ = asked(program, prompts, log, label=label)
        assert heard == wanted, f"{label} means {wanted[:4]!r}; the question was {heard!r}"


def test_two_prompts_are_independent(program):
    prompts, log = started(program, "Old.")
    prompts.save("plan", "Plan.")
    prompts.release("plan", 1)
    heard = [asked(program, prompts, log, name=name)[0] for name in ("support", "plan", "support")]
    assert heard == ["Old. Why?", "Plan. Why?", "Old. Why?"], f"support, plan, support were asked with {heard}"


def test_the_log_names_the_version_that_the_model_received(program):
    prompts, log = started(program, "Old.", "New.")

    def model(question):
        prompts.release("support", 2)  # somebody releases while the model thinks
        return question

    heard = program.ask(model, prompts, "support", "Why?", log)
    assert heard == "Old. Why?", f"version 1 was released when it was asked; the question was {heard!r}"
    assert log == [("support", 1, "Why?")], f"the model was asked with version 1, 'Old.'; the log says {log}"


def test_no_text_is_read_twice(program):
    prompts, log = started(program, "Old.", "New.")
    for version in (1, 1, 2, 1, 2):
        prompts.release("support", version)
        asked(program, prompts, log)
    assert prompts.reads <= 2, f"there are two texts; {prompts.reads} were read for five questions"
