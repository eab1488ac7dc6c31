"""Runs on disk: an SQLite file to which every event is appended before anything follows from it."""

from planexec_lite.journal.database import JournalError
from planexec_lite.journal.journal import Journal, StoredRun

__all__ = ["Journal", "JournalError", "StoredRun"]
