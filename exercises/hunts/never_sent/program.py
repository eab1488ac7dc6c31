"""Send letters, and continue after a crash from a journal that survives it."""


class Crash(Exception):
    """The machine goes down."""


def send_all(names, journal, send):
    """Send a letter to each name, in order; return the names that a person must check.

    `journal` is a list of entries, each a pair of a word and a name. Appended entries survive a crash; entries are
    never changed. A crash can happen inside `send`, before or after the letter is sent. If the journal proves that a
    letter was sent, it is not sent again. If the journal can't tell, it is not sent again either: the name is returned,
    and the other letters are sent.
    """
    for name in names:
        if ("sent", name) in journal:
            continue
        journal.append(("sent", name))
        send(name)
    return []


class Post:
    """Sends letters; crashes once, before Ben's letter is sent."""

    def __init__(self):
        self.out, self.crashed = [], False

    def send(self, name):
        if name == "Ben" and not self.crashed:
            self.crashed = True
            raise Crash
        self.out.append(name)


if __name__ == "__main__":
    post, journal, names = Post(), [], ["Ann", "Ben", "Cleo"]
    try:
        send_all(names, journal, post.send)
    except Crash:
        unknown = send_all(names, journal, post.send)
    print("out:", ", ".join(post.out))
    print("for a person to check:", ", ".join(unknown) or "nobody")
