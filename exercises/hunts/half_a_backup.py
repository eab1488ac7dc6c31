"""Half a backup

Lesson 12 · difficulty 2 of 5 · 10 minutes

The backup is done, and so is the migration. When the backup is needed, it contains two of five rows.

    backup failed, migration skipped
    rows in the backup: 5
"""

# %% program
"""Back up a database, and migrate it."""

from pathlib import Path
from tempfile import TemporaryDirectory


def back_up(backup, dump):
    """Write a backup to the file `backup`, replacing the previous one; return "done" or
    "failed".

    `dump(file)` writes the database to an open text file, and returns an exit code: 0 if
    the dump is complete. It can also raise an OSError halfway. Until the new backup is
    complete, the previous one stays complete, or there is no file `backup` if there was
    none. After a complete backup, there is no other new file in its folder.
    """
    with open(backup, "w") as file:  # as a shell does: dump > backup
        dump(file)
    return "done"


def migrate(backup, dump, migration):
    """Back up, and migrate if the backup succeeded; return both outcomes, such as ("done",
    "done").
    """
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

# %% test
from pathlib import Path
from tempfile import TemporaryDirectory

LAST_NIGHT = "five\nrows\nof\nlast\nnight\n"


def run(program, dump, before=LAST_NIGHT):
    """Return both outcomes, the backup's content, and the names of other files in the folder."""
    migrated = []
    with TemporaryDirectory() as folder:
        backup = Path(folder, "backup.sql")
        if before is not None:
            backup.write_text(before)
        became = program.migrate(backup, dump, lambda: migrated.append(True))
        held = backup.read_text() if backup.exists() else None
        others = sorted(path.name for path in Path(folder).iterdir() if path != backup)
    assert bool(migrated) == (became[1] == "done"), f"outcomes: {became}, but the migration ran {len(migrated)} times"
    return tuple(became), held, others


def half(file):
    file.write("half\n")
    return 1


def whole(file):
    file.write("all\nof tonight\n")
    return 0


def breaks(file):
    file.write("half\n")
    file.flush()
    raise OSError("the disk is full")


def nothing(file):
    return -9


def test_an_incomplete_backup_stops_the_migration(program):
    became, _, _ = run(program, half)
    assert became == ("failed", "skipped"), f"the dump wrote half and returned code 1; outcomes: {became}"


def test_the_previous_backup_stays(program):
    for dump, told in (
        (half, "wrote half and returned code 1"),
        (nothing, "wrote nothing and returned code -9"),
    ):
        _, held, _ = run(program, dump)
        assert held == LAST_NIGHT, f"the dump {told}; last night's backup is now {held!r}"


def test_an_error_halfway_is_a_failure_too(program):
    became, held, _ = run(program, breaks)
    assert became == ("failed", "skipped"), f"the disk became full halfway; outcomes: {became}"
    assert held == LAST_NIGHT, f"the disk became full halfway; last night's backup is now {held!r}"


def test_a_complete_backup_replaces_it(program):
    for before in (LAST_NIGHT, None):
        became, held, others = run(program, whole, before)
        assert (became, held) == (("done", "done"), "all\nof tonight\n"), (
            f"the dump was complete; returned: {became}, {held!r}"
        )
        assert others == [], f"the dump was complete; other files in the folder: {others}"


def test_a_failed_first_backup_leaves_no_file(program):
    became, held, _ = run(program, half, before=None)
    assert (became, held) == (("failed", "skipped"), None), (
        f"the first backup of all was incomplete; outcomes: {became}, {held!r}"
    )


def test_the_previous_backup_exists_while_the_new_one_is_written(program):
    seen = []
    with TemporaryDirectory() as folder:
        backup = Path(folder, "backup.sql")
        backup.write_text(LAST_NIGHT)
        program.back_up(
            backup,
            lambda file: seen.append(backup.exists() and backup.read_text()) or whole(file),
        )
    assert seen == [LAST_NIGHT], f"while the new backup is written, last night's backup is {seen}"


# %% hints
HINT = """Imagine a crash after each line, and look at the file each time. When does last night's backup disappear?"""
QUESTION = """Who learns that the dump failed, and which file must still exist at that moment?"""
SEEN = """"The Planner-Executor pattern explained", an article: its gantz.yaml writes pg_dump mydb > backup_… , and the
shell empties the file first. In use: autopostgresqlbackup, issue 2, months of truncated dumps that no one
noticed; DBackup, issue 154, a failed pg_dump counts as a success of 0 bytes, and earlier backups are deleted."""
