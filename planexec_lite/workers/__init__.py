"""Workers: who carries the jobs out. One by one on this thread, on an executor's threads, or on a virtual clock.

Workers know nothing of plans: a job is a function and its arguments. They are configuration, so one object may serve
many runs; `open` gives a session for one run. A session says how many more jobs it takes (`free`), starts a job, and waits
for those that finish next, at the same instant, in the order in which they were started. A job may also be given up at its
timeout, come late, be taken back before it has begun, or let itself be heard while it goes on.
"""

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Cancelled, Finished, Late, Message, Progress, Report, Task, TimedOut
from planexec_lite.workers.inline import Inline
from planexec_lite.workers.session import Workers, measure
from planexec_lite.workers.simulated import Simulated

__all__ = [
    "Cancelled", "Finished", "Inline", "Late", "Message", "Progress", "Report", "Simulated", "Task", "TimedOut",
    "WorkerSession", "Workers", "measure",
]  # fmt: skip
