"""For teachers who use nbgrader: what its `generate_assignment`, `autograde` and `generate_feedback` need to know.

Our markers of a solution are nbgrader's own. The cells that test the checker (wrong answers, alternatives, equivalents) are
left out. Each cell with `check` becomes a test with as many points as the exercise's difficulty, from 1 to 5.
"""

import re

from nbconvert.preprocessors import TagRemovePreprocessor
from nbgrader.converters import GenerateAssignment
from nbgrader.preprocessors import NbGraderPreprocessor

HIDDEN = """
### BEGIN HIDDEN TESTS
from exercises.checker.verbs import judged

assert judged("{id}", globals(), draw=False).status == "right"
### END HIDDEN TESTS"""


class MarkCells(NbGraderPreprocessor):
    """Marks answers and tests as nbgrader's form for instructors would."""

    def preprocess(self, nb, resources):
        text = "\n".join(cell.source for cell in nb.cells if cell.cell_type == "markdown")
        points = dict(re.findall(r"^## (\d\d\.\d) .*\n\n\*.* difficulty (\d) of 5", text, re.M))
        for cell in nb.cells:
            if cell.cell_type != "code":
                continue
            checked = re.match(r'check\("(\d\d\.\d)"\)', cell.source)
            if checked:
                cell.source += "\n" + HIDDEN.format(id=checked[1])
                graded = {"grade": True, "locked": True, "points": int(points[checked[1]])}
                self.mark(cell, f"check-{checked[1]}", graded)
            elif "answer" in cell.metadata.get("tags", []):
                (id,) = (tag for tag in cell.metadata.tags if tag != "answer")
                self.mark(cell, f"answer-{id}", {"solution": True})
        return nb, resources

    def mark(self, cell, name, more):
        """Write nbgrader's metadata into a cell."""
        plain = {"schema_version": 3, "grade": False, "solution": False, "locked": False, "task": False}
        cell.metadata["nbgrader"] = {**plain, "grade_id": name.replace(".", "-"), **more}


c = get_config()  # type: ignore[name-defined]  # noqa: F821  (given by the application that reads this file)
c.ClearSolutions.enforce_metadata = False
c.TagRemovePreprocessor.enabled = True
c.TagRemovePreprocessor.remove_cell_tags = {"wrong-answer", "alternative", "equivalent"}
c.GenerateAssignment.preprocessors = [
    TagRemovePreprocessor,
    MarkCells,
    *GenerateAssignment.preprocessors.default_args[0],
]
