"""A run (`run`), its events as JSON (`events`), and the checks of a person's decision about it (`decisions`)."""

from planexec_lite.run.run import EventLog, Run, RunStore

__all__ = ["EventLog", "Run", "RunStore"]
