"""Back up a database, and migrate it."""

from pathlib import Path
from tempfile import TemporaryDirectory


def back_up(backup, dump):
    """Write a backup to the file `backup`, replacing the previous one; return "done" or "failed".

    `dump(file)` writes the database to an open file, and returns an exit code: 0 if the dump is complete. It can also
    raise an OSError halfway. The previous backup stays complete until the new one is complete.
    """
    with open(backup, "w") as file:  # as a shell does: dump > backup
        dump(file)
    return "done"


def migrate(backup, dump, migration):
    """Back up, and migrate if the backup succeeded; return both outcomes, such as ("done", "done")."""
    backed_up = back_up(backup, dump)
    if backed_up != "done":
        return backed_up, "skipped"
    migration()
    return backed_up, "done"


ROWS = ["Ann", "Ben", "Cleo", "Dora", "Emil"]


def dump(file):
    """Write two of five rows; then the connection is lost."""
    file.writelines(f"{name}\n" for name in ROWS[:2])
    return 1


if __name__ == "__main__":
    with TemporaryDirectory() as folder:
        backup = Path(folder, "backup.sql")
        backup.write_text("".join(f"{name}\n" for name in ROWS))  # last night's
        backed_up, migrated = migrate(backup, dump, lambda: None)
        print(f"backup {backed_up}, migration {migrated}")
        print("rows in the backup:", len(backup.read_text().splitlines()))
