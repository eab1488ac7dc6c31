"""Ways to reach a script: genuine clients in this process, clients that other code creates (`interception`), and
loopback HTTP (`server`; `proxies` keeps its clients away from proxies).
"""

from .in_process import API_KEY, BASE_URL, Handle, client, transport
from .interception import intercepted
from .server import serve

__all__ = ["API_KEY", "BASE_URL", "Handle", "client", "intercepted", "serve", "transport"]
