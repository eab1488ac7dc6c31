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
    came = sent(program, turns(1, 1, 1, 1), 6)
    assert came == HEAD + turns(1, 1, 1, 1)[6:], f"of four turns six messages are sent: {told(came)}"


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
