"""For teachers who hand the exercises out with nbgrader: what its `generate_assignment` needs to know.

Our markers of a solution are nbgrader's own. It need not find its metadata in the cells, and the cells that try the
checker (wrong answers, alternatives, equivalents) are no part of what students get.
"""

from nbconvert.preprocessors import TagRemovePreprocessor
from nbgrader.converters import GenerateAssignment

c = get_config()  # type: ignore[name-defined]  # noqa: F821  (given by the application that reads this file)
c.ClearSolutions.enforce_metadata = False
c.TagRemovePreprocessor.enabled = True
c.TagRemovePreprocessor.remove_cell_tags = {"wrong-answer", "alternative", "equivalent"}
c.GenerateAssignment.preprocessors = [
    TagRemovePreprocessor,
    *GenerateAssignment.preprocessors.default_args[0],
]
