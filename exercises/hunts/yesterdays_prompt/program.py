"""Ask a model with the prompt that is released; the log says which version of the prompt each answer came from."""


class Prompts:
    """Prompts by name. A version, once saved, never changes; a label says which version it is that is meant."""

    def __init__(self):
        self.texts, self.labels, self.reads = {}, {}, 0

    def save(self, name, text):
        """Save the next version of a prompt, and return its number."""
        self.texts.setdefault(name, []).append(text)
        return len(self.texts[name])

    def release(self, name, version, label="production"):
        """Say that from now on a label means this version."""
        self.labels[name, label] = version

    def version(self, name, label="production"):
        """Which version a label means now."""
        return self.labels[name, label]

    def text(self, name, version):
        """Read the text of a version. That takes a while, so no text is to be read twice."""
        self.reads += 1
        return self.texts[name][version - 1]


KNOWN = {}  # texts that were read


def ask(model, prompts, name, question, log, label="production"):
    """Return the model's answer to a question, asked with the version of the prompt that the label means now.

    The log gets a line, (name, version, question): the version with which the model was asked.
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
