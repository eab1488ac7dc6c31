"""The migration as a program that can be killed: ``python -m planexec_lab.worlds.migration FOLDER [--without-journal]``."""

from planexec_lab.worlds.migration.program import main

main()
