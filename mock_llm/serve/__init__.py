"""Ways to reach a script: genuine clients in this process, clients that other code creates (`catching`), and
loopback HTTP (`server`; `proxies` keeps its clients away from proxies).
"""

from .catching import caught
from .in_process import API_KEY, BASE_URL, Handle, client, transport
from .server import serve

__all__ = ["API_KEY", "BASE_URL", "Handle", "caught", "client", "serve", "transport"]
