"""Planners, how they are told of results, and the buffer between a planner that streams and the steps that may start early."""

from planexec_lite.planning.planners import (
    INSTRUCTIONS,
    LLMPlanner,
    NextStepPlanner,
    Planner,
    RulePlanner,
    StreamingPlanner,
)
from planexec_lite.planning.telling import Summary, Telling, growth

__all__ = [
    "INSTRUCTIONS", "LLMPlanner", "NextStepPlanner", "Planner", "RulePlanner", "StreamingPlanner", "Summary",
    "Telling", "growth",
]  # fmt: skip
