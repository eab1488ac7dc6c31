"""The worlds that the lessons play in: small, offline, deterministic, and real underneath."""
