"""The board: where everything in a run stands, as a fold of its events.

`board` holds the fold and all its rules. What they change is kept in parts: the table of the steps (`step_table`, with
the transitions that a step can make in `transitions` and the steps that may start in `ready_queue`), what the planner
proposed (`proposals`), what the reviewer said to it (`approvals`), the calls that may be made once (`once_calls`), what was
done and can be taken back (`rollback`), and the boards of the runs inside steps (`inside`).
"""

from planexec_lite.board.board import Board
from planexec_lite.board.step_table import signature
from planexec_lite.board.transitions import IllegalTransition, State

__all__ = ["Board", "IllegalTransition", "State", "signature"]
