"""Workers run the jobs: in sequence on this thread, on an executor's threads or processes, or on a virtual clock.

Workers know nothing of plans: a job is a function and its arguments. Workers are configuration, so one object can serve many runs;
`open` gives a session to each run. A session says how many more jobs it takes (`free`), starts a job, and waits for the jobs that
finish next, at the same instant, in the order in which they were started. A job can also time out, finish late, be cancelled
before it starts, or report progress while it runs.
"""

from planexec_lite.core.loop import WorkerSession
from planexec_lite.core.tasks import Report, Task
from planexec_lite.workers.real_time import Inline, Pool
from planexec_lite.workers.session import Workers, carried_by, described, measure
from planexec_lite.workers.simulated import Simulated

__all__ = [
    "Inline", "Pool", "Report", "Simulated", "Task", "WorkerSession", "Workers", "carried_by", "described", "measure",
]  # fmt: skip
