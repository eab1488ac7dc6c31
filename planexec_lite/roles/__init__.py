"""The roles: planners, executors (also in `react` and `team`), evaluators and reviewers.

Each file can be imported without loading all others. `telling` writes the results of a run into the planner's prompt.
"""
