"""Migration scripts: untrusted SQL. They run in a transaction, and can only change tables."""

import sqlite3

SCRIPT = """\
ALTER TABLE customers ADD COLUMN email TEXT;
UPDATE customers SET email = (SELECT email FROM contacts WHERE customer_id = customers.id);
DROP TABLE contacts;
"""
HASTY_SCRIPT = """\
ALTER TABLE customers ADD COLUMN email TEXT;
CREATE UNIQUE INDEX one_address ON customers (email);
UPDATE OR IGNORE customers SET email = (SELECT email FROM contacts WHERE customer_id = customers.id);
DROP TABLE contacts;
"""
BROKEN_SCRIPT = SCRIPT.replace("ALTER TABLE", "ALTER TABEL")

_MOST_BYTES = 1_000_000  # in one value or statement
_MOST_STEPS = 10_000_000  # the most SQLite instructions of one statement, so that an endless script ends
_FORBIDDEN = (sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH, sqlite3.SQLITE_PRAGMA, sqlite3.SQLITE_TRANSACTION)
_SYNTAX = ("syntax error", "incomplete input", "unrecognized token")


def statements(sql: str) -> list[str]:
    """Split a script into its statements; a semicolon inside a text or a comment splits nothing."""
    complete, begun = [], ""
    for part in sql.split(";"):
        begun += part + ";"
        if sqlite3.complete_statement(begun):
            complete.append(begun.strip())
            begun = ""
    rest = begun.removesuffix(";").strip()
    return [statement for statement in [*complete, rest] if statement.strip("; \n")]


def run(db: sqlite3.Connection, sql: str) -> int:
    """Run a script on `db`, all of it or nothing, and return how many statements it has.

    Raises `ValueError` for an empty script, and `RuntimeError` with the number of the statement that failed.
    """
    script = statements(sql)
    if not script:
        raise ValueError(
            "the migration script is empty; write SQL such as ALTER TABLE customers ADD COLUMN email TEXT;"
        )
    db.execute("BEGIN")
    db.set_authorizer(lambda action, *_: sqlite3.SQLITE_DENY if action in _FORBIDDEN else sqlite3.SQLITE_OK)
    db.set_progress_handler(lambda: 1, _MOST_STEPS)
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MOST_BYTES)
    problem = next((message for number, part in enumerate(script, 1) if (message := _problem(db, part, number))), None)
    db.set_authorizer(None)
    db.set_progress_handler(None, 0)
    if db.in_transaction:
        db.execute("ROLLBACK" if problem else "COMMIT")
    if problem:
        raise RuntimeError(problem)
    return len(script)


def _problem(db: sqlite3.Connection, statement: str, number: int) -> str | None:
    try:
        for _ in db.execute(statement):
            pass
    except (sqlite3.Error, ValueError) as error:
        message = str(error)
        if "not authorized" in message:
            message += "; a script can change tables, but can't use ATTACH, PRAGMA, BEGIN or COMMIT"
        kind = "syntax error" if any(words in message for words in _SYNTAX) else "failed"
        return f"migration script {kind} in statement {number}: {message}"
    return None
