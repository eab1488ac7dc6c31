"""One guest, two rooms

Lesson 09 · difficulty 2 of 5 · 10 minutes

A guest ordered one room, and the retry worked. The guest pays for two rooms.

    in doubt: no answer after 30 seconds
    booked: a double room
"""

# %% program
"""Call a tool with retries; after a timeout the call might have succeeded."""


class Timeout(Exception):
    """No answer in time; the call might have succeeded."""


class Refused(Exception):
    """The service refuses the call, and will refuse it again."""


def call(tool, repeatable=False, attempts=3):
    """Call a tool and return ("done", result), ("failed", error) or ("in doubt", error).

    A Refused call is not retried. After a Timeout, a tool is called again only if it is
    `repeatable`: a second call does no harm. Any other error has changed nothing, so the
    call is retried. A tool is called at most `attempts` times. A call whose last attempt
    timed out is in doubt; a person must check it.
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


# %% test
def tool(program, *ends):
    """A tool that ends so at each call, and counts: an error is raised, anything else returned; the last end stays."""
    calls = []

    def work():
        end = ends[min(len(calls), len(ends) - 1)]
        calls.append(end)
        if isinstance(end, Exception):
            raise end
        return end

    return calls, work


def test_a_call_that_might_have_succeeded_is_not_repeated(program):
    calls, book = tool(program, program.Timeout("late"), "booking 2")
    status, _ = program.call(book)
    assert len(calls) == 1, f"a booking timed out and might have succeeded; it was called {len(calls)} times"
    assert status == "in doubt", f"a booking timed out; its status is {status!r}, wanted 'in doubt'"


def test_a_harmless_call_is_repeated(program):
    calls, read = tool(program, program.Timeout("late"), "20 euros")
    said = program.call(read, repeatable=True)
    assert said == ("done", "20 euros"), f"reading a price can be repeated after a timeout; returned: {said}"
    assert len(calls) == 2, f"a price was read at the second call; there were {len(calls)}"


def test_an_error_that_changed_nothing_is_tried_again(program):
    _, book = tool(program, KeyError("down"), ArithmeticError("down"), "booking 1")
    said = program.call(book)
    assert said == ("done", "booking 1"), f"the line was down twice, nothing was booked; it said {said}"


def test_a_timeout_counts_at_every_attempt(program):
    calls, book = tool(program, ConnectionError("down"), program.Timeout("late"), "booking 2")
    status, _ = program.call(book)
    assert (len(calls), status) == (2, "in doubt"), (
        f"the line was down, then a timeout; there were {len(calls)} calls, and the status is {status!r}"
    )


def test_a_refused_call_is_not_retried(program):
    calls, book = tool(program, program.Refused("no such hotel"))
    status, _ = program.call(book)
    assert (len(calls), status) == (1, "failed"), f"it was refused; {len(calls)} calls, and the status is {status!r}"


def test_it_gives_up(program):
    calls, read = tool(program, program.Timeout("late"))
    status, error = program.call(read, repeatable=True, attempts=4)
    assert (len(calls), str(error)) == (4, "late"), f"four attempts; there were {len(calls)} calls, it said {error!r}"
    assert status == "in doubt", f"the last of four attempts timed out; its status is {status!r}, wanted 'in doubt'"
    calls, read = tool(program, program.Timeout("late"), ArithmeticError("down"))
    status, _ = program.call(read, repeatable=True)
    told = f"the last two of three attempts found the line down; {len(calls)} calls, the status is {status!r}"
    assert (len(calls), status) == (3, "failed"), told


# %% hints
HINT = """Three kinds of errors reach one line. For each of them, say what you know about the hotel."""
QUESTION = (
    """An answer did not arrive. Which two things might have happened, and in which case does a second call do harm?"""
)
SEEN = """composio, issue 3654, and crewAI, issue 5802: a tool call is retried, even after a timeout, without a check of
what the first call did. Mails, payments and bookings are made twice. Retries are on by default in many workflow
engines."""
