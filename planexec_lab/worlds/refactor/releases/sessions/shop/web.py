"""Requests, responses and the table of endpoints: as much of a web server as the shop needs."""

from dataclasses import dataclass, field

ENDPOINTS = {}


@dataclass
class Request:
    """What a client sends."""

    headers: dict = field(default_factory=dict)
    cookies: dict = field(default_factory=dict)
    body: dict = field(default_factory=dict)


@dataclass
class Response:
    """What the shop answers."""

    status: int
    body: object = None
    cookies: dict = field(default_factory=dict)


def endpoint(method, path):
    """Register a function as the endpoint of a method and a path."""

    def register(function):
        ENDPOINTS[method, path] = function
        return function

    return register


def call(method, path, **parts):
    """Send a request to the shop and return its response."""
    function = ENDPOINTS.get((method, path))
    return function(Request(**parts)) if function else Response(404, "not found")
