"""Grade a class: `python -m exercises.grade FOLDER -o OUT`; `exercises/teachers/README.md` explains it.

Read `collect` (the submitted files and their students), `lessons` (the original notebook), `rules` (names that no answer
needs), `sandbox` and `worker` (a restricted process for each notebook), `similar`, `report`, then `__main__`.

Limits. On a system with Linux namespaces, the kernel keeps an answer away from the network, from other submissions, and
from solutions. An answer runs in the same interpreter as its check, because a check gives it planners, tools and boards. So a
program can cheat in principle. Three layers make it hard: answers with suspicious names get no points until a teacher has
read them (`rules`); changed modules are restored and reported; after "right", the same checker must still reject a known
wrong answer. A prediction is plain data: a process that never ran the answer judges it.
"""
