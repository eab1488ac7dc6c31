"""A planner writes tickets, a worker closes them, and the planner checks the results.

`ask` sends a question to a model and returns its answer, a string. The string is JSON
if the question asks for JSON. `work` carries out a ticket and returns a text about
the outcome; it never raises. No two tickets are the same. If a ticket is not done,
the planner writes new tickets for the remaining work.
"""

import json


class Planner:
    def __init__(self, ask, tools):
        self.ask, self.tools = ask, tools

    def plan(self, goal):
        question = f"Goal: {goal}\nWrite the tickets, a JSON list of strings."
        return json.loads(self.ask(question))

    def accepts(self, ticket, result):
        return self.ask(f"Ticket: {ticket}\nResult: {result}\nIs it done, yes or no?")

    def replan(self, goal, done, failed):
        question = f"Tools: {self.tools}\nGoal: {goal}\nDone: {done}\nFailed: {failed}"
        question += "\nWrite the remaining tickets, a JSON list of strings."
        return json.loads(self.ask(question))


def close_all(goal, ask, tools, work, max_replans=3):
    """Return the result of each done ticket; replan at most `max_replans` times."""
    planner, replans, done = Planner(ask, tools), 0, {}
    tickets = planner.plan(goal)
    for ticket in tickets:
        result = work(ticket)
        if planner.accepts(ticket, result):
            done[ticket] = result
        elif replans < max_replans:
            tickets = planner.replan(goal, done, ticket)
            replans += 1
        else:
            raise RuntimeError(f"{ticket!r} is not done after {max_replans} replans")
    return {ticket: done[ticket] for ticket in tickets if ticket in done}
