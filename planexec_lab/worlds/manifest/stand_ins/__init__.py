"""Stand-ins for ``pg_dump``, ``psql`` and ``date``: small programs over SQLite files, for machines without PostgreSQL.

Each is a file that is run by itself, and knows nothing of the package. They behave as PostgreSQL's own where the manifest of
the article fails: a dump of what can't be reached writes nothing and ends with 1; psql goes on after an error and ends with
0, unless ``ON_ERROR_STOP`` is set. The tests hold them against the real ones. What they don't know they refuse.
"""
