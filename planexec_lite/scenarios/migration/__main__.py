"""The migration as a program that may be killed: ``python -m planexec_lite.scenarios.migration FOLDER [--without-journal]``."""

from planexec_lite.scenarios.migration.program import main

main()
