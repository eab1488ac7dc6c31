"""Perhaps means yes

Lesson 15 · difficulty 2 of 5 · 10 minutes

A release needs a person's approval. The person answers "not before Monday". The release is deployed.

    answer: {"approve": "not before Monday"}
    answer: {"approve": false}
    rejected, deployed: nothing
"""

# %% program
"""Deploy a release after a person's decision, which arrives as JSON."""

import json


def release(ask, deploy, most=3):
    """Ask for a decision and obey it; return "released", "rejected" or "undecided".

    `ask()` returns a text. It is a decision if it is a JSON object whose value for
    "approve" is true or false; no other text is one. Without a decision, ask again,
    `most` times in all. Deploy after true, and only then.
    """
    answer = json.loads(ask())
    if answer["approve"]:
        deploy()
        return "released"
    return "rejected"


if __name__ == "__main__":
    answers = [
        '{"approve": "not before Monday"}',
        '{"approve": false}',
        '{"approve": true}',
    ]
    deployed = []

    def ask():
        print("answer:", answers[0])
        return answers.pop(0)

    print(release(ask, lambda: deployed.append("version 3")), end=", deployed: ")
    print(*deployed or ["nothing"])

# %% test
YES, NO = '{"approve": true}', '{"approve": false}'
NONE = [
    '{"approve": "not before Monday"}',
    '{"approve": "no"}',
    '{"approve": "yes"}',
    '{"approve": 1}',
    '{"approve": 0}',
]
NONE += [
    '{"approve": null}',
    '{"approve": [true]}',
    "{}",
    '{"yes": true}',
    "[true]",
    "true",
    "approve",
    "",
    '"approve"',
]


def run(program, *answers, **named):
    """Return the status of a release, and how often the program deployed and asked the person."""
    asked, deployed = [], []

    def ask():
        assert len(asked) < 20, f"the person was asked 20 times; the answers were {answers}"
        asked.append(answers[min(len(asked), len(answers) - 1)])
        return asked[-1]

    status = program.release(ask, lambda: deployed.append(True), **named)
    return status, len(deployed), len(asked)


def test_only_true_is_a_yes(program):
    for text in NONE:
        status, deployed, _ = run(program, text)
        assert not deployed, f"the answer was {text}, and the release was deployed"
        assert status == "undecided", f"the answer was {text}, three times; it returned {status!r}"


def test_true_and_false_are_decisions(program):
    came = run(program, YES)
    assert came == ("released", 1, 1), f"the answer was {YES}; returned, deployments, questions: {came}"
    came = run(program, NO, YES)
    assert came == ("rejected", 0, 1), f"the answer was {NO}; returned, deployments, questions: {came}"


def test_without_a_decision_it_asks_again(program):
    for text in NONE:
        came = run(program, text, text, YES)
        assert came == ("released", 1, 3), f"twice {text}, then {YES}; returned, deployments, questions: {came}"
        came = run(program, text, NO, YES)
        assert came == ("rejected", 0, 2), f"{text}, then {NO}; returned, deployments, questions: {came}"


def test_it_asks_a_limited_number_of_times(program):
    for most in (1, 2, 5):
        came = run(program, "perhaps", most=most)
        assert came == ("undecided", 0, most), f"always perhaps, most={most}; returned, deployments, questions: {came}"


# %% hints
HINT = """Write down what a person could type into the form. For each text, say what the line with `if` makes of it."""
QUESTION = """There are three outcomes of a question: yes, no, and no decision. Which values of "approve" belong to each of them?"""
SEEN = """Lesson 15 has six programs for the same release. Three of them, among them ours for this kit, tested
`if answer["yes"]`, so {"yes": "perhaps"} released. A schema for the answer refuses it."""
