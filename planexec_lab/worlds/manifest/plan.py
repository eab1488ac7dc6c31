"""The goal of the manifest world, and the plan that its four tools make."""

from planexec_lite.plan import Plan

GOAL = "Migrate our database to the new schema"


def plan_with(file: str) -> Plan:
    """The plan with this migration file."""
    return Plan.parse(
        {
            "goal": GOAL,
            "steps": [
                {"id": "1", "tool": "read_schema", "description": "Read the schema"},
                {"id": "2", "tool": "backup_database", "description": "Back up the database"},
                {
                    "id": "3",
                    "tool": "run_migration",
                    "params": {"file": file},
                    "depends_on": ["1", "2"],
                    "description": "Migrate",
                },
                {
                    "id": "4",
                    "tool": "verify_integrity",
                    "depends_on": ["3"],
                    "description": "Check that nothing is lost",
                },
            ],
        }
    )


PLAN = plan_with("migration.sql")
