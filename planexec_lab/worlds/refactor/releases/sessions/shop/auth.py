"""Authentication: a user logs in and gets a session, which the server keeps."""

import hmac
import secrets

USERS = {"ada": "engine", "alan": "machine"}
SESSIONS = {}


def log_in(name, password):
    """Return a new session for a user; None if name or password is wrong."""
    if not hmac.compare_digest(USERS.get(name, "").encode(), password.encode()) or name not in USERS:
        return None
    session = secrets.token_hex(16)
    SESSIONS[session] = name
    return session


def user_of(session):
    """Return the name of a session's user; None if the session does not exist."""
    return SESSIONS.get(session)


def log_out(session):
    """Forget a session."""
    SESSIONS.pop(session, None)
