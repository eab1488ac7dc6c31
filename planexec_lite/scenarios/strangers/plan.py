"""The goal beside the stranger."""

GOAL = "Tell the team tomorrow's weather in Oslo"
