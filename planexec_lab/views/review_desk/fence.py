"""A fence between typing and deciding: what was typed before a button was pressed has arrived before it counts.

A field sends its first change at once and keeps the following ones until the kernel has answered; a press is sent at
once, past what is kept. On a slow line "10" and Approve would arrive as "1", Approve, "10". So the desk asks the page for
a sign of life that can only come behind what it kept: it shows a widget that nobody sees, or hides it again, and the page
says how many views of it there are.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import ipywidgets as w


class Fence:
    """Lets an action wait until the page has sent all that was typed before.

    Args:
        views: returns how many views of the desk the page has, as far as it has said.
        heard: returns whether what is being handled was sent by a page; one that is there may not have said so yet.
            Where there is no page, nothing is waited for.
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
        """Take note that something was typed, of which there may be more under way."""
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
        then()
        return True

    def ask_again(self) -> None:
        """Ask anew: the page has not answered. It may be another one, which has the old count and no change to tell.

        A page that never told how many views it has won't; there the second press counts.
        """
        if self._answers or self.views():
            self._renew()
            self._ask()
        else:
            self._go_on()

    def begin_anew(self) -> None:
        """Wait for nothing any more: the page that was asked may be gone."""
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
        post.observe(lambda _: self._answered(), "_view_count")
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
