"""Call a tool with retries; after a timeout the call might have succeeded."""


class Timeout(Exception):
    """No answer in time; the call might have succeeded."""


class Refused(Exception):
    """The service refuses the call, and will refuse it again."""


def call(tool, repeatable=False, attempts=3):
    """Call a tool and return ("done", result), ("failed", error) or ("in doubt", error).

    A Refused call is not retried. After a Timeout, a tool is called again only if it is `repeatable`: a second call
    does no harm. Any other error has changed nothing, so the call is retried. A tool is called at most `attempts`
    times. A call whose last attempt timed out is in doubt; a person must check it.
    """
    last = None
    for _ in range(attempts):
        try:
            return "done", tool()
        except Exception as error:
            last = error
    return "failed", last


class Hotel:
    """Books every room on request; its first answer gets lost."""

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
