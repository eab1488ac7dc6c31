"""200 runs of GPT-4o as a customer agent of an airline (tau-bench): one row for each run."""

import json
import re
from typing import Any

from tests.recorded.recount.source import Row, Source

TAU = Source("sierra-research/tau-bench", "59a200c6d575d595120f1cb70fea53cef0632f6b")
FILE = "historical_trajectories/gpt-4o-airline.json"
WRITES = {"book_reservation", "cancel_reservation", "send_certificate", "update_reservation_baggages",
          "update_reservation_flights", "update_reservation_passengers"}  # fmt: skip
READS = {"get_user_details", "get_reservation_details", "search_direct_flight", "search_onestop_flight",
         "list_all_airports"}  # fmt: skip
ID = re.compile(r'"(?:reservation_id|flight_number|payment_id|user_id)"\s*:\s*"([^"]+)"')


def calls_of(message: Row) -> list[tuple[str, str]]:
    """The calls of a message: name and arguments."""
    calls = message.get("tool_calls") or []
    return [(call["function"]["name"], call["function"]["arguments"]) for call in calls]


def size(message: Row) -> int:
    """The characters that a message adds to each later request."""
    words = len(message.get("content") or "")
    return words + sum(len(name) + len(arguments) for name, arguments in calls_of(message))


def requests(messages: list[Row]) -> list[int]:
    """The characters of each request. A request sends all messages before it."""
    sent, sizes = 0, []
    for message in messages:
        if message["role"] == "assistant":
            sizes.append(sent)
        sent += size(message)
    return sizes


def ids(messages: list[Row], tools: set[str]) -> tuple[int, int]:
    """How many calls of these tools have an id, and how many of them have one that only a tool's result contained."""
    customer, result, named, from_result = "", "", 0, 0
    for message in messages:
        text = str(message.get("content") or "")
        customer += text if message["role"] == "user" else ""
        result += text if message["role"] == "tool" else ""
        for name, arguments in calls_of(message):
            found = [one for one in ID.findall(arguments) if name in tools]
            unsaid = [one for one in found if one not in customer]
            named += bool(found)
            from_result += bool(unsaid) and all(one in result for one in unsaid)
    return named, from_result


def row(run: dict[str, Any]) -> Row:
    """What one run did."""
    messages, task = run["traj"], run["info"]["task"]
    names = [name for message in messages for name, _ in calls_of(message)]
    failed = [m["name"] for m in messages if m["role"] == "tool" and str(m.get("content") or "").startswith("Error")]
    wanted = [action for action in task["actions"] if action["name"] in WRITES]
    sizes = requests(messages)
    reads, writes = ids(messages, READS), ids(messages, WRITES)
    return {
        "task": run["task_id"],
        "trial": run["trial"],
        "passed": int(run["reward"]),
        "requests": len(sizes),
        "reads": sum(name in READS for name in names),
        "writes": sum(name in WRITES for name in names) - sum(name in WRITES for name in failed),
        "writes_wanted": len(wanted),
        "answer_wanted": int(bool(task["outputs"])),
        "errors": len(failed),
        "handed_over": int("transfer_to_human_agents" in names),
        "first_request": sizes[0],
        "last_request": sizes[-1],
        "all_requests": sum(sizes),
        "sent_again": sum(sizes[:-1]),
        "reads_with_id": reads[0],
        "reads_id_from_result": reads[1],
        "writes_with_id": writes[0],
        "writes_id_from_result": writes[1],
    }


def airline_runs() -> list[Row]:
    """A row for each run, in the order of the file."""
    return [row(run) for run in json.loads(TAU.text(FILE))]
