"""Authentication: a user logs in and gets a signed token, which the client keeps. The server keeps nothing."""

import hmac
import time

from shop import tokens

USERS = {"ada": "engine", "alan": "machine"}
clock = time.time


def log_in(name, password):
    """Return a new token for a user; None if name or password is wrong."""
    if not hmac.compare_digest(USERS.get(name, "").encode(), password.encode()) or name not in USERS:
        return None
    now = int(clock())
    values = {"sub": name, "iss": "shop", "iat": now, "exp": now + 60 * tokens.SCHEMA["minutes"]}
    return tokens.encode({claim: values[claim] for claim in tokens.SCHEMA["claims"]})


def user_of(token):
    """Return the name of a token's user; None if the token is invalid or has expired."""
    claims = tokens.decode(token, clock())
    return claims and claims["sub"]
