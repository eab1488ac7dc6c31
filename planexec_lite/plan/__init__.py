"""Plans: the typed artifact (`step`, `model`), reading it, also while it is still being written (`reading`), its shape
(`graph`), and whether it can run (`checks`, `placeholders`)."""

from planexec_lite.plan.model import Plan
from planexec_lite.plan.reading import PlanError, Problem, StepReader, lineages, word_for_word
from planexec_lite.plan.step import MAX_RETRIES, Call, Step

__all__ = [
    "MAX_RETRIES",
    "Call",
    "Plan",
    "PlanError",
    "Problem",
    "Step",
    "StepReader",
    "lineages",
    "word_for_word",
]
