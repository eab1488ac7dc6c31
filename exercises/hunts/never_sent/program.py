"""Send letters, and go on after a crash from a journal that outlives it."""


class Crash(Exception):
    """The machine goes down."""


def send_all(names, journal, send):
    """Send each a letter, in order; return the names that a person has to look at.

    `journal` is a list of entries, each a pair of a word and a name. Whatever is appended outlives a crash; nothing in it
    is ever changed. A crash may come inside `send`, before the letter is out or behind it. Whose letter is known to be out
    gets no other. Of whom nobody knows gets none either: the name is returned, and the others get theirs.
    """
    for name in names:
        if ("sent", name) in journal:
            continue
        journal.append(("sent", name))
        send(name)
    return []


class Post:
    """Sends letters; goes down once, before the letter to Ben is out."""

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
    print("for a person to look at:", ", ".join(unknown) or "nobody")
