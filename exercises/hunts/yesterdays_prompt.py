"""Released yesterday, and never used

Lesson 13 · difficulty 2 of 5 · 10 minutes

A better prompt was released. The log says that it is in use, but the answers are as bad as before.

    Monday, asked: Be brief. Are the logs complete?
    Monday, log:   support, version 1
    Tuesday, asked: Be brief, and name your source. Are the logs complete?
    Tuesday, log:   support, version 2
"""

# %% program
"""Ask a model with the released prompt; the log records the prompt's version for each
answer.
"""


class Prompts:
    """Prompts by name. A saved version never changes; a label points to the current
    version.
    """

    def __init__(self):
        self.texts, self.labels, self.reads = {}, {}, 0

    def save(self, name, text):
        """Save the next version of a prompt, and return its number."""
        self.texts.setdefault(name, []).append(text)
        return len(self.texts[name])

    def release(self, name, version, label="production"):
        """Point a label to this version."""
        self.labels[name, label] = version

    def version(self, name, label="production"):
        """Return the version that a label points to."""
        return self.labels[name, label]

    def text(self, name, version):
        """Return the text of a version. Reading takes a while, so no text should be read
        twice.
        """
        self.reads += 1
        return self.texts[name][version - 1]


KNOWN = {}  # texts that were read


def ask(model, prompts, name, question, log, label="production"):
    """Return the model's answer to a question, asked with the version that the label points
    to now.

    The log gets a line, (name, version, question), with the version that the model
    received.
    """
    if name not in KNOWN:
        KNOWN[name] = prompts.text(name, prompts.version(name, label))
    answer = model(f"{KNOWN[name]} {question}")
    log.append((name, prompts.version(name, label), question))
    return answer


if __name__ == "__main__":
    prompts, log = Prompts(), []
    for day, text in [
        ("Monday", "Be brief."),
        ("Tuesday", "Be brief, and name your source."),
    ]:
        prompts.release("support", prompts.save("support", text))
        print(f"{day}, asked: {ask(str, prompts, 'support', 'Are the logs complete?', log)}")
        print(f"{day}, log:   support, version {log[-1][1]}")


# %% test
def started(program, *texts):
    """Prompts of one name with these versions, the first of them released; a log."""
    prompts = program.Prompts()
    for text in texts:
        prompts.save("support", text)
    prompts.release("support", 1)
    return prompts, []


def asked(program, prompts, log, question="Why?", name="support", **label):
    """Return the model's input and the version in the log."""
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
    for label, wanted in (
        ("production", "Old. Why?"),
        ("staging", "New. Why?"),
        ("production", "Old. Why?"),
    ):
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
        prompts.release("support", 2)  # a release while the model thinks
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


# %% hints
HINT = """Two lines choose a prompt. Follow both through Tuesday, and note where each one gets its version."""
QUESTION = """Which of these stays the same tomorrow: a name, a label, a number? And which line knows the version that the model
received?"""
SEEN = """Langfuse's JavaScript SDK, pull request 690: the version was not part of the cache's key, so a request for version
2 got the former production prompt. Langfuse, issue 7736: a prompt ran in old versions after a new one was
released. MLflow, issue 21489: the latest prompt came from the cache, one version too old."""
