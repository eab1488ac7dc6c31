"""Stand-ins for ``pg_dump``, ``psql`` and ``date``: small programs over SQLite files, for machines without PostgreSQL.

Each is a standalone script that does not import the package. They behave like PostgreSQL's programs in the failures of the
article's manifest: a dump of an unreachable database writes nothing and exits with 1; psql continues after an error and exits
with 0, unless ``ON_ERROR_STOP`` is set. Tests compare them with the real programs. They refuse unknown options.
"""
