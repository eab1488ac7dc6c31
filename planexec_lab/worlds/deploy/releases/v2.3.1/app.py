"""The shop, a small web application: it answers a path with a status and a body."""

VERSION = "v2.3.1"


def handle(path, settings, orders):
    """Return (status, body) for a request."""
    if path == "/health":
        return 200, VERSION
    if path == "/orders":
        return 200, [number for number, _ in orders]
    if path == "/total":
        return 200, f"{sum(price for _, price in orders)} {settings['currency']}"
    return 404, "not found"
