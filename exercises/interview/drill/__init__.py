"""The whiteboard drill: a planner-executor of at most sixty lines from memory; see PROMPT.md."""
