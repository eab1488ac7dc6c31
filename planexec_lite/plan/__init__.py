"""Plans: the typed artifact (`model`), reading it (`reading`), its shape (`graph`), whether it can run (`checks`);
and reading its steps while it is still being written (`streaming`)."""

from planexec_lite.plan.model import Call, Plan, Step
from planexec_lite.plan.problems import PlanError, Problem
from planexec_lite.plan.streaming import StepReader

__all__ = ["Call", "Plan", "PlanError", "Problem", "Step", "StepReader"]
