"""Check the database after a migration: every order has its customer, and no e-mail address of the latest backup is gone."""

import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

ORPHANS = "SELECT count(*) FROM orders WHERE customer_id NOT IN (SELECT id FROM customers)"


def output_of(*command: str) -> str:
    """Return what a program prints; if it fails, say why and end this script."""
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr.strip() or f"{command[0]} ended with code {done.returncode}")
    return done.stdout.strip()


def addresses(dump: str) -> Counter[str]:
    """The e-mail addresses in a dump, and how often each is there."""
    return Counter(re.findall(r"[\w.+-]+@[\w.-]+\w", dump))


backups = sorted(Path().glob("backup_*.sql"), key=lambda path: path.stat().st_mtime_ns)
if not backups:
    sys.exit("there is no backup to compare with; make one before the migration")
before = addresses(backups[-1].read_text(encoding="utf-8"))
if not before:
    sys.exit(f"the latest backup, {backups[-1].name}, holds no address; it is empty, or broke off")
now = addresses(output_of("pg_dump", "mydb"))
orphans = int(output_of("psql", "-X", "-A", "-t", "-c", ORPHANS, "mydb"))
lost = before - now
print(f"{now.total()} of {before.total()} e-mail addresses are there; {orphans} orders have no customer")
if lost or orphans:
    sys.exit(f"lost since {backups[-1].name}: {', '.join(sorted(lost)) or 'no address'}")
