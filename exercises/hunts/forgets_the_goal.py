"""An agent forgets its goal

Lesson 11 · difficulty 3 of 5 · 10 minutes

The first two turns go well. Later the agent works on something else, and the service refuses some of its requests.

    rules: Call tools, one turn at a time.
    goal: Find a train to Graz that arrives before noon.
    model: arrival of the 8:58
    tool: 11:33
"""

# %% program
"""Shorten the conversation that a ReAct agent sends to its model."""


def shortened(messages, most):
    """Return the messages to send, at most `most` of them (2 or more), in their order.

    `messages` are pairs of a role and a text. The first two are the rules and the goal,
    which are always sent. Then come turns: a turn starts with a message of the "model" and
    continues with the answers of one or more "tool" calls. The service refuses an answer
    without its question, and a question without its answers, so a turn is sent whole or not
    at all. Send as many of the latest turns as fit, without a gap.
    """
    return messages[-most:]


TRAINS = [
    ("rules", "Call tools, one turn at a time."),
    ("goal", "Find a train to Graz that arrives before noon."),
]
TRAINS += [("model", "stations of Vienna"), ("tool", "Hbf, Meidling, West")]
TRAINS += [
    ("model", "trains from Hbf, and from Meidling"),
    ("tool", "6:58, 8:58"),
    ("tool", "7:05, 9:05"),
]
TRAINS += [("model", "arrival of the 8:58"), ("tool", "11:33")]

if __name__ == "__main__":
    for who, text in shortened(TRAINS, 6):
        print(f"{who}: {text}")

# %% test
HEAD = [("rules", "r"), ("goal", "g")]


def turns(*sizes):
    """Return a conversation whose turns have this many answers each."""
    talk = list(HEAD)
    for number, size in enumerate(sizes, 1):
        talk.append(("model", f"question {number}"))
        talk += [("tool", f"answer {number}.{one}") for one in range(1, size + 1)]
    return talk


def sent(program, messages, most):
    kept = list(messages)
    came = list(program.shortened(messages, most))
    assert messages == kept, "the conversation itself was changed"
    return came


def told(messages):
    return ", ".join(text for _, text in messages) or "nothing"


def test_rules_and_goal_are_always_sent(program):
    came = sent(program, turns(1, 1, 1, 1), 6)
    assert came[:2] == HEAD, f"of four turns six messages are sent: {told(came)}; the goal is gone"


def test_the_latest_turns_are_sent(program):
    talk = turns(*[1] * 40)
    came = sent(program, talk, 62)
    assert came == HEAD + talk[22:], f"of 40 turns 62 messages are sent: {told(came)}"


def test_the_turns_that_are_sent_have_no_gap(program):
    came = sent(program, turns(1, 5, 1), 7)
    assert came == HEAD + turns(1, 5, 1)[10:], f"the turn in the middle is too long: {told(came)}"


def test_a_turn_is_sent_whole_or_not_at_all(program):
    for most, first in ((9, 5), (8, 5), (7, 9), (6, 9), (5, 9), (4, 9)):
        came = sent(program, turns(2, 3, 1), most)
        wanted = HEAD + turns(2, 3, 1)[first:]
        assert came == wanted, f"three turns, {most} messages fit: {told(came)}; wanted {told(wanted)}"


def test_if_no_turn_fits_no_turn_is_sent(program):
    for most in (2, 3):
        came = sent(program, turns(1, 3), most)
        assert came == HEAD, f"only {most} messages fit: {told(came)}"


def test_a_short_conversation_is_sent_unchanged(program):
    for talk in (HEAD, turns(1), turns(2, 1)):
        came = sent(program, talk, 7)
        assert came == talk, f"all {len(talk)} messages fit: {told(came)}"


# %% hints
HINT = """Write down what is sent with each turn. Which message must still be there in turn 100?"""
QUESTION = """Something must be removed. Which messages can only be removed together, and from which end?"""
SEEN = """openmake/openmake_llm, pull request 625: shortening kept the rules and the latest messages, so the goal was
removed first, without an error. microsoft/semantic-kernel, issue 12708: the shortened conversation contained tool
answers without their calls, and the service refused it."""
