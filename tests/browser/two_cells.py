"""A notebook whose first cell shows a desk and whose second cell reads the decision."""

from pathlib import Path

import nbformat

SETUP = "from planexec_lite import *\nfrom planexec_lab import views\nfrom tests.views.desks import PLAN, TOOLS"
SHOW = 'desk = views.desk(PLAN, TOOLS, script=["Approve"])\ndesk'
READ = """import json
decision = desk.decision
grant = decision.grant and decision.grant.new_steps
print(json.dumps([decision.verdict, decision.by, decision.comment, grant, len(decision.of) == 32]))"""


def book(path: Path, *cells: str) -> Path:
    """Write a notebook with these code cells."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    made.metadata["kernelspec"] = {"display_name": "Python 3", "language": "python", "name": "python3"}
    nbformat.write(made, path)
    return path
