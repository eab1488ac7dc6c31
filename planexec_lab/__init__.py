"""planexec_lab: what the lessons use around the pattern of `planexec_lite`.

- `connect`: the client for a world: its scripted model, or, with an environment variable set, a real endpoint. `timed_llm`: a
  scripted model that reports when each chunk of a stream arrives.
- `anthropic_adapter`: an Anthropic client in the place of an OpenAI client.
- `worlds`: the worlds that the lessons act in, each real underneath: a database, files, programs, unit tests.
- `views`: pictures of plans and runs, and the review desk. Only this folder imports matplotlib or ipywidgets.
  `sketches`: the mechanisms of the lessons, drawn by it. `real_clock`: workers on threads, for a lesson.
- `formats`: plans as others publish them. `spans`: traces. `mcp`, `gantz`: tools from elsewhere. `json_schema`: tools whose
  parameters a JSON schema describes.
- `variations`: ReAct, ReWOO and others, built from the same parts. `scoreboard`: what each costs, and when
  planning wins.
- `grade`: grades for plans and planners. `prompts`: versions of prompts, and a log of requests. `recorded`: answers of a small
  real model.
- `cluster`: steps on a cluster. `capacity`: how many workers a queue needs.

``python -m planexec_lab runs FILE`` shows the runs in a journal.
"""

import mock_llm.command  # noqa: F401  # first, because the rest loads a second, and Ctrl-C must end it
from planexec_lab.connect import connect

__all__ = ["connect"]
