"""Plans: the typed artifact (`model`), reading it (`reading`), its shape (`graph`), whether it can run (`checks`)."""

from planexec_lite.plan.model import Call, Plan, Step
from planexec_lite.plan.problems import PlanError, Problem

__all__ = ["Call", "Plan", "PlanError", "Problem", "Step"]
