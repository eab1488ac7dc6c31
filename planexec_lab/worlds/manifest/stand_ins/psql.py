"""psql, as far as the manifest needs it: runs the statements of a file, of its input or of -c on a SQLite file."""

import getopt
import os
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

ABORTED = "current transaction is aborted, commands ignored until end of transaction block"
TAGS = {"INSERT": "INSERT 0 {}", "UPDATE": "UPDATE {}", "DELETE": "DELETE {}"}


def fail(message: str, code: int) -> None:
    """End with a message, as psql does."""
    print(f"psql: error: {message}", file=sys.stderr)
    sys.exit(code)


def statements(sql: str) -> Iterator[tuple[int, str]]:
    """Each statement with the number of its last line."""
    begun, line = "", 1
    for place, part in enumerate(sql.split(";")):
        last = place == sql.count(";")
        begun += part if last else part + ";"
        line += part.count("\n")
        if last or sqlite3.complete_statement(begun):
            code = "\n".join(row for row in begun.splitlines() if not row.lstrip().startswith("--")).strip()
            if code:
                yield line, code
            begun = ""


class Session:
    """A connection with psql's transactions: after an error in one, nothing counts until its end."""

    def __init__(self, db: sqlite3.Connection, quiet: bool) -> None:
        self.db, self.quiet, self.aborted = db, quiet, False

    def run(self, statement: str) -> str | None:
        """Run a statement and print what psql prints; return what was wrong."""
        word = statement.split()[0].rstrip(";").upper()
        if self.aborted and word not in ("COMMIT", "ROLLBACK", "END"):
            return ABORTED
        if word in ("COMMIT", "END") and self.aborted:
            statement, word = "ROLLBACK", "ROLLBACK"
        try:
            cursor = self.db.execute(statement)
            rows = cursor.fetchall()
        except sqlite3.Error as error:
            self.aborted = self.db.in_transaction
            return str(error)
        self.aborted = False
        if cursor.description:
            for row in rows:
                print("|".join("" if value is None else str(value) for value in row))
        elif not self.quiet:
            kind = " ".join(statement.split()[:2]).upper()
            print(TAGS.get(word, kind if word in ("CREATE", "ALTER", "DROP") else word).format(cursor.rowcount))
        return None


def main() -> None:
    """Read the options, and run what is to be run."""
    try:
        options, rest = getopt.gnu_getopt(sys.argv[1:], "v:XAtq1c:f:", ["single-transaction", "file="])
    except getopt.GetoptError as error:
        fail(f"{error.msg} (this stand-in knows a few options only)", 1)
    given = dict(options)
    stop = given.get("-v") == "ON_ERROR_STOP=1"
    command, file, name = given.get("-c"), given.get("--file", given.get("-f")), rest[0] if rest else ""
    path = Path(os.environ["DATABASES"]) / f"{name}.sqlite"
    if not path.is_file():
        fail(f'connection to server failed: FATAL:  database "{name}" does not exist', 2)
    if command is not None:
        sql, where, code = command, "", 1
    elif file is not None:
        try:
            sql, where, code = Path(file).read_text(encoding="utf-8"), f"psql:{file}:", 3
        except OSError as error:
            fail(f"{file}: {error.strerror}", 1)
    else:
        sql, where, code = sys.stdin.read(), "", 3
    whole = "--single-transaction" in given or "-1" in given
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        session = Session(db, quiet="-q" in given)
        if whole:
            session.run("BEGIN")
        for line, statement in statements(sql):
            if statement.startswith("\\"):
                fail(f"{statement.split()[0]}: this stand-in knows no such command", code)
            problem = session.run(statement)
            if problem is not None:
                print(f"{where}{f'{line}: ' if where else ''}ERROR:  {problem}", file=sys.stderr)
                if stop or command is not None:
                    sys.exit(code)
        if whole and db.in_transaction:
            session.run("COMMIT")


if __name__ == "__main__":
    main()
