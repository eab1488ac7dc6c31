from pathlib import Path
from tempfile import TemporaryDirectory

LAST_NIGHT = "five\nrows\nof\nlast\nnight\n"


def run(program, dump, before=LAST_NIGHT):
    """What becomes of backup and migration, what the backup holds, and whether anything else lies about."""
    migrated = []
    with TemporaryDirectory() as folder:
        backup = Path(folder, "backup.sql")
        if before is not None:
            backup.write_text(before)
        became = program.migrate(backup, dump, lambda: migrated.append(True))
        held = backup.read_text() if backup.exists() else None
        others = sorted(path.name for path in Path(folder).iterdir() if path != backup)
    assert bool(migrated) == (became[1] == "done"), f"it says {became}, and the migration ran {len(migrated)} times"
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
    return 2


def test_nothing_rests_on_half_a_backup(program):
    became, _, _ = run(program, half)
    assert became == ("failed", "skipped"), f"the program wrote half and ended with code 1; it says {became}"


def test_the_backup_before_stays(program):
    for dump, told in ((half, "wrote half and ended with code 1"), (nothing, "wrote nothing and ended with code 2")):
        _, held, _ = run(program, dump)
        assert held == LAST_NIGHT, f"the program {told}; the backup of last night is now {held!r}"


def test_an_error_in_the_middle_is_a_failure_too(program):
    became, held, _ = run(program, breaks)
    assert became == ("failed", "skipped"), f"the disk was full in the middle; it says {became}"
    assert held == LAST_NIGHT, f"the disk was full in the middle; the backup of last night is now {held!r}"


def test_a_whole_one_takes_its_place(program):
    for before in (LAST_NIGHT, None):
        became, held, others = run(program, whole, before)
        assert (became, held) == (("done", "done"), "all\nof tonight\n"), f"all was written; it says {became}, {held!r}"
        assert others == [], f"all was written; beside the backup lies {others}"


def test_there_is_none_where_the_first_one_failed(program):
    became, held, _ = run(program, half, before=None)
    assert (became, held) == (("failed", "skipped"), None), (
        f"the first backup ever was half; it says {became}, {held!r}"
    )


def test_the_backup_before_is_there_while_the_new_one_is_written(program):
    seen = []
    with TemporaryDirectory() as folder:
        backup = Path(folder, "backup.sql")
        backup.write_text(LAST_NIGHT)
        program.back_up(backup, lambda file: seen.append(backup.exists() and backup.read_text()) or whole(file))
    assert seen == [LAST_NIGHT], f"while the new one is written, the backup of last night is {seen}"
