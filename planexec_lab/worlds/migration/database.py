"""The contents of the shop's database, read in the same way before and after a migration, and their differences."""

import sqlite3
from contextlib import AbstractContextManager, closing
from importlib.resources import files
from pathlib import Path
from typing import Any

Rows = dict[str, dict[str, Any]]

_COLUMNS = "SELECT name FROM pragma_table_info(?) ORDER BY cid"
WANTED = {"customers": ["id", "name", "email"], "orders": ["id", "customer_id", "product", "cents"]}


def create(path: Path) -> None:
    """Make the database that `start.sql` describes."""
    with closing(sqlite3.connect(path)) as db:
        db.executescript((files(__package__) / "start.sql").read_text(encoding="utf-8"))


def opened(path: Path) -> AbstractContextManager[sqlite3.Connection]:
    """Open an existing database in autocommit mode and close it at the end of the block."""
    return closing(sqlite3.connect(path.as_uri() + "?mode=rw", uri=True, isolation_level=None))


def copied(source: sqlite3.Connection, to: Path | str) -> AbstractContextManager[sqlite3.Connection]:
    """Copy a database with SQLite's backup API, to a file or to ":memory:"; gives the copy, open."""
    copy = sqlite3.connect(to, isolation_level=None)
    source.backup(copy)
    return closing(copy)


def copy_schema(db: sqlite3.Connection, empty: sqlite3.Connection) -> None:
    """Make the tables of `db` in `empty`, without their rows."""
    made = db.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY type = 'table' DESC, name")
    for name, sql in made.fetchall():
        if not name.startswith("sqlite_"):
            empty.execute(sql)


def schema(db: sqlite3.Connection) -> dict[str, list[str]]:
    """The columns of each table."""
    names = db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
    return {name: [column for (column,) in db.execute(_COLUMNS, (name,))] for (name,) in names.fetchall()}


def counted(rows: Rows) -> dict[str, int]:
    """How many customers, orders and e-mail addresses there are."""
    kinds = [key.split()[0] for key in rows]
    addresses = sum(bool(row.get("email")) for row in rows.values())
    return {"customers": kinds.count("customer"), "orders": kinds.count("order"), "emails": addresses}


def contents(db: sqlite3.Connection) -> Rows:
    """Every customer and order by name ("customer 3"), with the customer's e-mail address, in either schema."""
    tables, rows = schema(db), Rows()
    for table in ("customers", "orders"):
        if "id" in tables.get(table, ()):
            cursor = db.execute(f"SELECT * FROM {table} ORDER BY id")
            for row in cursor:
                values = {column[0]: value for column, value in zip(cursor.description, row, strict=True)}
                rows[f"{table.removesuffix('s')} {values.pop('id')}"] = values
    if "email" not in tables.get("customers", ()) and {"customer_id", "email"} <= {*tables.get("contacts", ())}:
        for id, email in db.execute("SELECT customer_id, email FROM contacts ORDER BY customer_id"):
            rows.setdefault(f"customer {id}", {})["email"] = email
    return rows


def differences(before: Rows, after: Rows) -> list[str]:
    """Losses and alterations, one sentence each; [] if nothing changed."""
    changes = []
    for key, row in before.items():
        name = f"{key} ({row['name']})" if "name" in row else key
        if key not in after:
            changes.append(f"{name} is gone")
            continue
        for field, was in row.items():
            now = after[key].get(field)
            if (now or None) != (was or None):
                changes.append(f"{name} {f'has the {field} {now} instead of' if now else f'lost its {field}'} {was}")
        if "email" not in row and after[key].get("email"):
            changes.append(f"{name} got the email {after[key]['email']}")
    return changes + [f"{key} is new" for key in after if key not in before]


def faults(db: sqlite3.Connection, before: Rows) -> list[str]:
    """The faults of a migrated database: schema, file, foreign keys, and rows compared with those before."""
    tables = schema(db)
    wrong = [table for table in WANTED if sorted(tables.get(table, ())) != sorted(WANTED[table])]
    messages = [f"table {table} should have the columns {', '.join(WANTED[table])}" for table in wrong]
    messages += [f"table {table} should be gone" for table in tables if table not in WANTED]
    checked = [problem for (problem,) in db.execute("PRAGMA integrity_check")]
    messages += [f"the file is damaged: {problem}" for problem in checked if problem != "ok"]
    try:
        for table, id, parent, _ in db.execute("PRAGMA foreign_key_check"):
            messages.append(f"{table.removesuffix('s')} {id} belongs to nobody in {parent}")
    except sqlite3.OperationalError as error:
        messages.append(f"the tables do not fit each other: {error}")
    return messages + differences(before, contents(db))
