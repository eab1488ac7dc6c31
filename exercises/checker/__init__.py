"""The code of `check`, `hint`, `solution`, `progress`, `compare` and `attempt`.

`verbs.py` has the verbs, `exercise.py` defines exercises, `checks` has the check of each, `guard.py` runs untrusted code,
`record.py` stores progress, `guesses.py` compares guesses, `tasks.py` tries the coding tasks, `book.py` reads the sources.
"""
