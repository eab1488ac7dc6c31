"""Grade a class: `python -m exercises.grade FOLDER -o OUT`; `exercises/teachers/README.md` explains it.

Read `collect` (the submitted files and their students), `lessons` (the original notebook), `rules` (names that no answer
needs), `sandbox` and `worker` (the processes of a notebook), `wire` (the line between the process that judges and the process that
runs an answer), `similar`, `report`, then `__main__`.

Limits. On a system with Linux namespaces, the kernel keeps an answer away from the network, from other submissions, and
from solutions. The process that writes the verdict never runs the learner's code: it calls the answer over a line, and compares
what comes back. The exercises in `worker.LIVE` are exceptions, because their answers hand over objects that no line can
carry: a teacher sees each of them that changes a function or a class of another module, or uses a suspicious name. An answer
that can't be judged gets the status "look". In a notebook and in the browser tab, `check` only helps to practise.
"""
