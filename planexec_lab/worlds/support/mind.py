"""The knowledge about an audit: collect the logs, follow the order, and fetch missing logs."""

import re
from collections.abc import Sequence
from typing import Any

from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen
from planexec_lab.worlds.support.services import SERVICES

_ORDER = "A-1034"
_LACKS = re.compile(r"the log of (\w+) lacks")


class AuditMind:
    """Collects the four logs, follows the order through them, and drafts a fix; a gap that shows is closed from the archive.

    It takes for granted that the logs are complete.
    """

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        collected, trail, cause, fetched = set(), None, None, set()
        for one in seen:
            if one.failed:
                return Answer(f"I can't go on: {one.result}")
            match one.tool:
                case "collect_logs":
                    collected.add(one.params["service"])
                case "fetch_archive":
                    fetched.add(one.params["service"])
                    trail = None
                case "inspect_branch":
                    trail = one.result
                case "root_cause":
                    cause = one.result
                case "draft_fix":
                    return Answer("The draft is written.")
        missing = next((service for service in SERVICES if service not in collected), None)
        if missing is not None:
            return Act(f"I will collect the log of {missing}.", "collect_logs", {"service": missing}, alone=True)
        if trail is not None and not trail["complete"]:
            return self._fetch(trail, fetched)
        if trail is None:
            return Act("I will follow the order.", "inspect_branch", {"order": _ORDER})
        if cause is None:
            return Act("I will look for the cause.", "root_cause", {"order": _ORDER})
        return Act("I will draft a fix.", "draft_fix", {"cause": cause})

    def _fetch(self, trail: Any, fetched: set[str]) -> Act | Answer:
        lacking = _LACKS.search(trail["finding"])
        if lacking is None or lacking[1] in fetched:
            return Answer(f"I can't go on: {trail['finding']}")
        return Act(f"Records of {lacking[1]} are missing.", "fetch_archive", {"service": lacking[1]})

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: no record is missing."""
        assumed = {"complete": True}
        return Expectation(assumed, assumed) if act.tool == "inspect_branch" else Expectation(later)
