"""Who plans (`planners`), executes (`executors`, `react`, `team`), evaluates (`evaluators`) and reviews (`reviewers`).

Each file can be imported without the others. `telling` has what a planner that is asked again is told about results.
"""
