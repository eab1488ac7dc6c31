"""Planners, and the buffer between a planner that streams and the steps that may start early."""

from planexec_lite.planning.planners import LLMPlanner, NextStepPlanner, Planner, RulePlanner, StreamingPlanner

__all__ = ["LLMPlanner", "NextStepPlanner", "Planner", "RulePlanner", "StreamingPlanner"]
