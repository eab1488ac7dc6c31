"""The logs of the four services from 09:30 to 10:30: sixty orders, two changes of settings, seven failures."""

from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Literal, get_args

Service = Literal["checkout", "payment", "fulfilment", "mail"]
SERVICES: tuple[Service, ...] = get_args(Service)
"""The services in the order in which an order passes through them."""

START = datetime.fromisoformat("2026-03-12T09:30:00+00:00")
GAP = (30, 40)
"""The minutes after the start that were rotated away into the archive."""

_SETTINGS: dict[Service, str] = {
    "checkout": "currency = EUR\nbasket_minutes = 30\n",
    "payment": "provider = bank\nhandover_path = /v2/paid\nattempts = 3\n",
    "fulfilment": "handover_path = /v1/paid\nlabel_size = A5\n",
    "mail": "relay = mail.example\nsender = shop@example\n",
}
_CHANGES: dict[Service, list[tuple[float, str]]] = {
    "checkout": [(42.2, "CH-78: basket_minutes 20 -> 30")],
    "payment": [
        (31.5, "CH-77: handover_path /v1/paid -> /v2/paid"),
        (38.7, "CH-77 taken back by hand: handover_path /v2/paid -> /v1/paid"),
    ],
    "fulfilment": [(15.2, "CH-76: label_size A6 -> A5")],
    "mail": [],
}
_DECLINED, _ORDERS = 9, 60


def settings(service: Service) -> str:
    """The settings of a service in its repository."""
    return f"[{service}]\n{_SETTINGS[service]}"


def log(service: Service) -> list[tuple[float, str]]:
    """Everything that a service wrote down, as (minutes after the start, line), in order."""
    written = [(float(minute), "INFO alive") for minute in range(61)]
    written += [(minute, f"INFO settings {change}") for minute, change in _CHANGES[service]]
    for number in range(1, _ORDERS + 1):
        written += [(at, f"{words} order=A-{1000 + number}") for by, at, words in _workflow(number) if by == service]
    return [(at, f"{_time(at)} {words}") for at, words in sorted(written, key=lambda entry: entry[0])]


def _workflow(number: int) -> Iterator[tuple[Service, float, str]]:
    """One order on its way: (service, minutes after the start, words), until something stops it."""
    at = number - 1 + 20 / 60
    yield "checkout", at, f"INFO placed, {19 + number * 7 % 60}.90 EUR"
    if number == _DECLINED:
        yield "payment", at + 3 / 60, "ERROR the card was declined"
        return
    yield "payment", at + 4 / 60, "INFO charged"
    if 31.5 < at < 38.7:
        for attempt in range(3):
            yield "payment", at + (5 + attempt) / 60, "ERROR hand-over to fulfilment: 404 at /v2/paid"
        return
    yield "payment", at + 5 / 60, "INFO handed over to fulfilment"
    yield "fulfilment", at + 12 / 60, "INFO packed"
    if number % 9 == 0:
        yield "mail", at + 14 / 60, "WARN the relay is slow"
    yield "mail", at + 15 / 60, "INFO confirmation sent"


def _time(minutes: float) -> str:
    return (START + timedelta(seconds=round(60 * minutes))).strftime("%Y-%m-%dT%H:%M:%SZ")
