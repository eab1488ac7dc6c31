"""Quizzes from the cards, as buttons in a notebook or as text. Every choice has an explanation.

``quiz("05")`` as the last line of a cell shows the questions of lesson 05. Without widgets, it shows text:
``quiz("05").answer(1, "b")`` says whether a choice is right and why, and ``quiz("05").text`` has all answers.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from string import ascii_lowercase
from typing import TYPE_CHECKING, Any

from exercises.interview import cards

if TYPE_CHECKING:
    import ipywidgets


@dataclass(frozen=True, repr=False)
class LessonQuiz:
    """The quiz of a lesson; `questions` come from its cards, in the order of the cards."""

    lesson: str
    questions: tuple[cards.Quiz, ...]

    def __repr__(self) -> str:
        call = f'quiz("{self.lesson}")'
        first, last = "a", ascii_lowercase[len(self.questions[0].choices) - 1]
        return "\n".join([
            f"Quiz of lesson {self.lesson}: {len(self.questions)} questions",
            *(line for number in range(1, len(self.questions) + 1) for line in self._asked(number)),
            f'To answer without widgets: {call}.answer(1, "{first}") … "{last}"; {call}.text has all answers.',
        ])  # fmt: skip

    @property
    def text(self) -> str:
        """The questions and choices, with the right answers and the reasons."""
        lines = [f"Quiz of lesson {self.lesson}, with the answers"]
        for number, question in enumerate(self.questions, 1):
            lines += ["", f"{number}. {question.ask}"]
            for letter, choice in zip(ascii_lowercase, question.choices, strict=False):
                lines += [f"   {letter}) {choice.text}", f"      {_verdict(choice)}"]
        return "\n".join(lines)

    def answer(self, number: int, letter: str) -> str:
        """Say whether choice `letter` of question `number` (from 1) is right, and why.

        Raises `ValueError` when there is no such question or choice.
        """
        if not 1 <= number <= len(self.questions):
            raise ValueError(f"there is no question {number}; there are 1 to {len(self.questions)}")
        choices = dict(zip(ascii_lowercase, self.questions[number - 1].choices, strict=False))
        if letter not in choices:
            raise ValueError(f"there is no choice {letter!r}; there are {', '.join(choices)}")
        return f"{letter}) {_verdict(choices[letter])}"

    def widget(self) -> ipywidgets.VBox:
        """Return the quiz as widgets: choices and a button for each question, usable with Tab and the space bar."""
        import ipywidgets

        score = ipywidgets.HTML()
        first: dict[int, bool] = {}  # question number -> whether its first answer was right

        def checked(number: int, choice: cards.Choice) -> None:
            first.setdefault(number, choice.right)
            right = list(first.values()).count(True)
            score.value = f"Right at the first try: {right} of {len(self.questions)}."

        parts = [_part(number, question, checked) for number, question in enumerate(self.questions, 1)]
        return ipywidgets.VBox([*parts, score])

    def _asked(self, number: int) -> list[str]:
        question = self.questions[number - 1]
        choices = zip(ascii_lowercase, question.choices, strict=False)
        return [f"{number}. {question.ask}", *(f"   {letter}) {choice.text}" for letter, choice in choices)]

    def _ipython_display_(self) -> None:
        """Show widgets in a notebook, and text elsewhere."""
        from planexec_lab.views import show_widget

        show_widget(self.widget(), repr(self))


def quiz(lesson: str) -> LessonQuiz:
    """Return the quiz of a lesson. Raises `ValueError` when none of its cards has a question with choices."""
    questions = tuple(card.quiz for card in cards.of(lesson) if card.quiz)
    if not questions:
        raise ValueError(f"the cards of lesson {lesson!r} have no quiz questions")
    return LessonQuiz(lesson, questions)


def _part(number: int, question: cards.Quiz, checked: Callable[[int, cards.Choice], None]) -> ipywidgets.VBox:
    """Return one question with its choices, its button, and a field for the explanation."""
    import ipywidgets
    from planexec_lab.views import on_event

    wide = ipywidgets.Layout(width="auto", max_width="720px")
    options = [f"{letter}) {choice.text}" for letter, choice in zip(ascii_lowercase, question.choices, strict=False)]
    choice = ipywidgets.RadioButtons(options=options, index=None, layout=wide)
    button = ipywidgets.Button(description=f"Check answer {number}", disabled=True)
    feedback = ipywidgets.HTML(layout=wide)

    def chosen(change: Any) -> None:
        button.disabled, feedback.value = False, ""

    def check(button: ipywidgets.Button) -> None:
        one = question.choices[choice.index]
        feedback.value = f'<div role="status" style="line-height:1.4">{escape(_verdict(one))}</div>'
        checked(number, one)

    on_event(choice, chosen, "index")
    on_event(button, check)
    asked = ipywidgets.HTML(
        f'<div style="line-height:1.4"><strong>{number}. {escape(question.ask)}</strong></div>', layout=wide
    )
    return ipywidgets.VBox([asked, choice, button, feedback], layout=ipywidgets.Layout(margin="0 0 18px 0"))


def _verdict(choice: cards.Choice) -> str:
    return f"{'✓ right' if choice.right else '✗ wrong'}: {choice.because}"
