"""The goal of the inbox world."""

GOAL = "Answer the mails 1, 2 and 3"
