"""Storage: runs on disk (`journal`), in a SQLite file that several processes share (`sqlite_file`, `file_lock`)."""
