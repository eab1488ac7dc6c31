"""Ask a model with the released prompt; the log records the prompt's version for each answer."""


class Prompts:
    """Prompts by name. A saved version never changes; a label points to the current version."""

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
        """Return the text of a version. Reading takes a while, so no text should be read twice."""
        self.reads += 1
        return self.texts[name][version - 1]


KNOWN = {}  # texts that were read


def ask(model, prompts, name, question, log, label="production"):
    """Return the model's answer to a question, asked with the version that the label points to now.

    The log gets a line, (name, version, question), with the version that the model received.
    """
    if name not in KNOWN:
        KNOWN[name] = prompts.text(name, prompts.version(name, label))
    answer = model(f"{KNOWN[name]} {question}")
    log.append((name, prompts.version(name, label), question))
    return answer


if __name__ == "__main__":
    prompts, log = Prompts(), []
    for day, text in [("Monday", "Be brief."), ("Tuesday", "Be brief, and name your source.")]:
        prompts.release("support", prompts.save("support", text))
        print(f"{day}, asked: {ask(str, prompts, 'support', 'Are the logs complete?', log)}")
        print(f"{day}, log:   support, version {log[-1][1]}")
