"""Carry out one call with retries; after a timeout nobody knows whether it was done."""


class Timeout(Exception):
    """No answer in time: it may have been done all the same."""


class Refused(Exception):
    """The other side says no, and will say so again."""


def call(tool, repeatable=False, attempts=3):
    """Call a tool and return ("done", result), ("failed", error) or ("in doubt", error).

    Any other error than these two has changed nothing: it is tried again. What was refused is not. After a timeout a
    tool is called again only if it is `repeatable`, a repeat doing no harm. It is called `attempts` times at most. A
    call that ends with a timeout is in doubt, for a person to look at.
    """
    last = None
    for _ in range(attempts):
        try:
            return "done", tool()
        except Exception as error:
            last = error
    return "failed", last


class Hotel:
    """Books every room that it is asked for; its first answer gets lost."""

    def __init__(self):
        self.rooms = []

    def book(self):
        self.rooms.append("a double room")
        if len(self.rooms) == 1:
            raise Timeout("no answer after 30 seconds")
        return f"booking {len(self.rooms)}"


if __name__ == "__main__":
    hotel = Hotel()
    status, said = call(hotel.book)
    print(f"{status}: {said}")
    print("booked:", ", ".join(hotel.rooms))
