"""The knowledge about a migration: the first script is hasty, and a test on a copy shows its fault."""

from collections.abc import Sequence

from planexec_lab.worlds.migration.scripts import HASTY_SCRIPT, SCRIPT
from planexec_lab.worlds.minds import Act, Answer, Expectation, Later, Seen


class MigrationMind:
    """Backs up, writes a script, tests it on a copy, runs it and verifies the data; a failed script is written again.

    When planning ahead it assumes that the first script is good. It never forgets the test, in any role.
    """

    def next(self, seen: Sequence[Seen]) -> Act | Answer:
        """Return what comes next after what was seen."""
        done = {one.tool: one for one in seen if not one.failed}
        if "update_config" in done:
            return Answer("The new schema is in production.")
        if "read_schema" not in done:
            return Act("I will look at the schema.", "read_schema", alone=True)
        if "backup_database" not in done:
            return Act("I will make a backup.", "backup_database", alone=True)
        if "write_migration" not in done:
            return Act("I will write the script.", "write_migration", {"sql": HASTY_SCRIPT})
        script = done["write_migration"]
        if "test_migration" not in done and script.params["sql"] == HASTY_SCRIPT and any(one.failed for one in seen):
            return Act("The script does damage; I will write it again.", "write_migration", {"sql": SCRIPT})
        file = {"file": script.result["file"]}
        for tool, why in (("test_migration", "I will test it on a copy."), ("run_migration", "I will run it.")):
            if tool not in done:
                return Act(why, tool, file)
        if "verify_integrity" not in done:
            return Act("I will verify the data.", "verify_integrity")
        return Act("I will tell the application.", "update_config", {"schema": 2})

    def expects(self, act: Act, later: Later) -> Expectation:
        """Return what is taken for granted: the data is whole afterwards."""
        assumed = {"ok": True}
        return Expectation(assumed, assumed) if act.tool == "verify_integrity" else Expectation(later)
