"""Ways to reach a script: genuine clients in this process, clients that other code creates (`catching`), and
loopback HTTP (`server`).
"""

from .catching import caught
from .in_process import API_KEY, BASE_URL, client, transport
from .server import serve

__all__ = ["API_KEY", "BASE_URL", "caught", "client", "serve", "transport"]
