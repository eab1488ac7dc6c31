"""pg_dump, as far as the manifest needs it: writes a SQLite file as SQL that `psql` reads again."""

import getopt
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path


def fail(message: str) -> None:
    """End with a message, as pg_dump does."""
    print(f"pg_dump: error: {message}", file=sys.stderr)
    sys.exit(1)


def dumped(db: sqlite3.Connection, schema_only: bool) -> str:
    """The tables, each with its rows behind it."""
    parts = ["-- A dump, as SQL"]
    for name, sql in db.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table' ORDER BY rowid"):
        parts.append(f"{sql};")
        if schema_only:
            continue
        quoted = '"' + name.replace('"', '""') + '"'
        columns = [f'quote("{row[1]}")' for row in db.execute(f"PRAGMA table_info({quoted})")]
        for row in db.execute(f"SELECT {', '.join(columns)} FROM {quoted} ORDER BY 1"):
            parts.append(f"INSERT INTO {quoted} VALUES ({', '.join(map(str, row))});")
    return "\n".join(parts) + "\n"


def main() -> None:
    """Read the options, and write the dump."""
    try:
        options, rest = getopt.gnu_getopt(sys.argv[1:], "", ["schema-only"])
    except getopt.GetoptError as error:
        fail(f"{error.msg} (this stand-in knows a few options only)")
    name = rest[0] if rest else ""
    path = Path(os.environ["DATABASES"]) / f"{name}.sqlite"
    if not path.is_file():
        fail(f'connection to server failed: FATAL:  database "{name}" does not exist')
    with closing(sqlite3.connect(f"{path.as_uri()}?mode=ro", uri=True)) as db:
        sys.stdout.write(dumped(db, schema_only=bool(options)))


if __name__ == "__main__":
    main()
