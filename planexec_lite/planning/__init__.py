"""Planners, how they are told of results, and the buffer between a planner that streams and the steps that may start early."""

from planexec_lite.planning.planners import LLMPlanner, NextStepPlanner, Planner, RulePlanner, StreamingPlanner
from planexec_lite.planning.telling import Summary, Telling, Told, growth, told

__all__ = [
    "LLMPlanner",
    "NextStepPlanner",
    "Planner",
    "RulePlanner",
    "StreamingPlanner",
    "Summary",
    "Telling",
    "Told",
    "growth",
    "told",
]
