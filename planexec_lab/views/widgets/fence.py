"""A fence between typing and deciding: everything typed before a click arrives before the click counts.

A field sends its first change at once and holds back further changes until the kernel has answered. A click is sent at
once, ahead of the changes that are held back. On a slow line "10" and Approve would arrive as "1", Approve, "10". So the
kernel asks the page for an answer that can only come after these changes: it shows or hides an invisible widget, and the page
reports the widget's number of views.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import ipywidgets as w

from planexec_lab.views.widgets.widget_output import on_event


class Fence:
    """Delays an action until the page has sent everything that was typed before.

    Args:
        views: returns the number of views of the widget that the page has reported.
        heard: returns whether a page sent the current message; a page that is there might not have reported itself yet.
            Without a page there is no delay.
    """

    def __init__(self, views: Callable[[], int], heard: Callable[[], bool] = lambda: False) -> None:
        self.views = views
        self._heard = heard
        self.box = w.Box(layout={"display": "none"})
        self._post = self._posted()
        self._asked = False
        self._answers = False
        self._typed = False
        self._then: Callable[[], None] | None = None

    @property
    def waits(self) -> bool:
        """Whether an action waits for the page."""
        return self._then is not None

    def typed(self) -> None:
        """Record that something was typed; more changes might follow."""
        if not self._page:
            return
        self._typed = True
        if not self._asked:
            self._ask()

    def behind(self, then: Callable[[], None]) -> bool:
        """Call `then` behind everything that was typed; return whether that was at once, because all of it has arrived."""
        if self._asked and self._page:
            self._then = then
            return False
        self._then = None
        then()
        return True

    def ask_again(self) -> None:
        """Ask again, because the page has not answered. A new page might have the old count and no change to report.

        A page that never reported its views won't answer; there the second click counts.
        """
        if self._answers or self.views():
            self._renew()
            self._ask()
        else:
            self._go_on()

    def begin_anew(self) -> None:
        """Stop waiting, because the page might be gone."""
        self._asked, self._answers, self._then = False, False, None
        self._renew()

    @property
    def _page(self) -> bool:
        return bool(self.views()) or self._heard()

    def _renew(self) -> None:
        self.box.children = ()
        self._post.close()
        self._post = self._posted()

    def _posted(self) -> Any:
        """A widget whose views the page counts, and has not counted yet."""
        post = w.HTML(layout={"display": "none"})
        post._view_count = 0
        on_event(post, lambda _: self._answered(), "_view_count")
        return post

    def _ask(self) -> None:
        """Ask for the sign behind the answer to the change that is being handled, which is sent when that is done."""
        self._asked, self._typed = True, False
        try:
            asyncio.get_running_loop().call_soon(self._turn)
        except RuntimeError:  # a kernel that handles messages outside a loop
            self._turn()

    def _turn(self) -> None:
        self.box.children = () if self.box.children else (self._post,)

    def _answered(self) -> None:
        if not self._asked or bool(self._post._view_count) != bool(self.box.children):
            return
        self._asked, self._answers = False, True
        if self._typed:
            self._ask()
        elif self._then:
            self._go_on()

    def _go_on(self) -> None:
        then, self._then = self._then, None
        if then:
            then()
