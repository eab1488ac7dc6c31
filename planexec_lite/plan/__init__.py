"""Plans: the typed artifact (`step`, `model`), reading it (`reading`), its shape (`graph`), whether it can run (`checks`),
what a step stands on (`lineage`), and reading its steps while it is still being written (`streaming`)."""

from planexec_lite.plan.checks import MAX_RETRIES
from planexec_lite.plan.lineage import lineages, word_for_word
from planexec_lite.plan.model import Plan
from planexec_lite.plan.problems import PlanError, Problem
from planexec_lite.plan.step import Call, Step
from planexec_lite.plan.streaming import StepReader

__all__ = ["MAX_RETRIES", "Call", "Plan", "PlanError", "Problem", "Step", "StepReader", "lineages", "word_for_word"]
