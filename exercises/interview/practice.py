"""The interview in a notebook: ``mock(level=2, minutes=45)`` and ``drill(3)`` show a question, a field for the answer, and a timer.

Without widgets, ``mock().answer("…")`` returns what the interviewer says next.
"""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import TYPE_CHECKING

from exercises.interview import cards, schedule
from exercises.interview.interviewer import (
    DRILLS,
    NOT_JUDGED,
    Judge,
    Mark,
    by_model,
    by_wording,
    conversation,
    details,
    interview,
    minutes_of,
    report,
)

if TYPE_CHECKING:
    import ipywidgets
    from planexec_lab.views import Figure

END = "That was the last question."


class Practice:
    """One interview: the interviewer's last line, the last question, and the marks of the questions that are over."""

    def __init__(self, title: str, asked: Sequence[cards.Card], judge: Judge | None = None) -> None:
        self.title, self.asked = title, tuple(asked)
        self.marks: list[Mark] = []
        self._judge = judge
        self.begin()
        self._begun = False  # on a page

    def __repr__(self) -> str:
        minutes = sum(map(minutes_of, self.asked))
        return f"{self.title}: {len(self.asked)} questions, {minutes} minutes.\n{self.says}"

    def begin(self) -> None:
        """Ask the first question; its time counts from now."""
        self._talk = conversation(self.asked, self._judge, marks=self.marks)
        self.says = self.question = next(self._talk)
        self._begun = True

    @property
    def over(self) -> bool:
        """Whether the last question was answered."""
        return self.says == END

    def answer(self, text: str) -> str:
        """Give an answer, and return what the interviewer says next; the marks are stored at the end."""
        if not self.over:
            try:
                self.says = self._talk.send(text)
            except StopIteration:
                self.end()
            if self.says.startswith("Question "):
                self.question = self.says
        return self.says

    def end(self) -> None:
        """End the interview; a question without its last answer does not count."""
        if not self.over:
            self._talk.close()
            self.says = END
            schedule.remember(self.marks)

    def report(self) -> Figure:
        """Show the marks as a table."""
        return report(self.marks)

    def details(self) -> str:
        """Return what was covered and missed in each answer, with the model answers."""
        return "\n\n".join(map(details, self.marks))

    def widget(self) -> ipywidgets.VBox:
        """Return the interview as widgets: a button to begin, then the question, a timer, a field for the answer, and buttons.

        No clock runs before the button is pressed: a page with several interviews can be run at once.
        """
        import ipywidgets
        from planexec_lab.views import Fence, on_event

        wide = ipywidgets.Layout(width="auto", max_width="720px")
        line, after = ipywidgets.HTML(layout=wide), ipywidgets.HTML(layout=wide)
        field = ipywidgets.Textarea(placeholder="Answer in sentences, as you would say it.", layout=wide, rows=6)
        field.tooltip = "Your answer, or your ticks"
        names = ("Answer", "I don't know", "End the interview")
        buttons = [ipywidgets.Button(description=name, layout=ipywidgets.Layout(width="auto")) for name in names]

        def show() -> None:
            line.value = _line(self.says, self.question)
            for each in (field, *buttons):
                each.disabled = self.over
            if self.over and self.marks:
                text = escape(self.details())
                after.value = (
                    f'{self.report()._repr_html_()}<pre style="white-space:pre-wrap;word-break:normal">{text}</pre>'
                )

        def answered(button: ipywidgets.Button) -> None:
            text, field.value = field.value, ""  # at once, because judging takes seconds in a browser tab
            if button.description == names[2]:
                self.end()
            elif button.description == names[1]:
                self.answer("I don't know.")
            elif text.strip() and NOT_JUDGED in self.answer(text):
                field.value = text
            show()

        box = ipywidgets.VBox()
        box._view_count = 0  # from now on the page says how many views it has
        fence = Fence(lambda: box._view_count or 0)
        on_event(box, lambda _: None, "_view_count")
        on_event(field, lambda _: fence.typed(), "value")

        def pressed(button: ipywidgets.Button) -> None:
            waits = fence.waits
            if not fence.behind(lambda: answered(button)) and waits:  # the last press counts
                fence.ask_again()

        def begun(_: object = None) -> None:
            if not self._begun:
                self.begin()
            show()
            box.children = [line, field, ipywidgets.HBox(buttons), after, fence.box]

        for button in buttons:
            on_event(button, pressed)
        if self._begun:
            begun()
            return box
        begin = ipywidgets.Button(description="Begin", layout=ipywidgets.Layout(width="auto"))
        on_event(begin, begun)
        box.children = [ipywidgets.HTML(escape(repr(self).partition("\n")[0]), layout=wide), begin]
        return box

    def _ipython_display_(self) -> None:
        """Show widgets in a notebook, and text elsewhere."""
        from planexec_lab.views import show_widget

        show_widget(self.widget(), repr(self))


def _line(says: str, question: str) -> str:
    """Return the interviewer's line as HTML: a question with a bar that runs out, or another line below its question."""
    text = '<div role="status" style="line-height:1.4;white-space:pre-wrap">{}<strong>{}</strong></div>'
    if says != question:
        return text.format("" if says == END else f"{escape(question)}\n\n", escape(says))
    seconds = 60 * int(question.partition("(")[2].partition(" ")[0])
    return (
        f"{text.format('', escape(says))}<style>@keyframes planexec-time{{from{{width:100%}}to{{width:0}}}}</style>"
        f'<div aria-hidden="true" style="height:4px;margin-top:6px;background:#D5D9DD"><div style="height:4px;background:#0072B2;'
        f'animation:planexec-time {seconds}s linear forwards"></div></div>'
    )


def mock(level: int = 2, minutes: int = 45, seed: int = 0) -> Practice:
    """Begin a mock interview; a real model judges if ``PLANEXEC_LLM`` names one. Raises `ValueError` like `interview`."""
    return Practice(
        f"Mock interview, {cards.LEVELS.get(level, level)}", interview(level, minutes, seed, schedule.due()), _judge()
    )


def drill(number: int) -> Practice:
    """Begin a drill, 1 to 11. Raises `ValueError` for another number."""
    if not 1 <= number <= len(DRILLS):
        raise ValueError(f"there is no drill {number}; there are 1 to {len(DRILLS)}")
    chosen = DRILLS[number - 1]
    return Practice(f"Drill {number}, {chosen.name}", cards.named(*chosen.ids), _judge())


def _judge() -> Judge | None:
    """Return the real model that PLANEXEC_LLM names, or None: the candidate marks the answers."""
    from planexec_lite.model.asking import endpoint

    if client := endpoint():
        return by_model(client)
    by_wording(cards.load()[0], "Ready.")  # reads every card once, now and not after the first answer
    return None
