"""Counts the tables of `planexec_lab.recorded.facts` again, from the published files.

Run by hand: `python -m tests.recorded.recount`.
"""
