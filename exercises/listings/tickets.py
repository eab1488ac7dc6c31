"""A planner writes tickets, others close them, and the planner looks at the results.

`ask` puts a question to a model and returns its answer, a text, which is JSON where
JSON is asked for. `work` carries out a ticket and returns in words what came of it;
it never raises. No two tickets are the same. When a ticket is not done, the planner
writes anew what is left.
"""

import json


class Planner:
    def __init__(self, ask, tools):
        self.ask, self.tools = ask, tools

    def plan(self, goal):
        question = f"Goal: {goal}\nWrite the tickets, a JSON list of texts."
        return json.loads(self.ask(question))

    def accepts(self, ticket, result):
        return self.ask(f"Ticket: {ticket}\nResult: {result}\nIs it done, yes or no?")

    def replan(self, goal, done, failed):
        question = f"Tools: {self.tools}\nGoal: {goal}\nDone: {done}\nFailed: {failed}"
        question += "\nWrite the tickets that are left, a JSON list of texts."
        return json.loads(self.ask(question))


def close_all(goal, ask, tools, work, most=3):
    """Return what came of each ticket that is done; plan anew at most `most` times."""
    planner, replans, done = Planner(ask, tools), 0, {}
    tickets = planner.plan(goal)
    for ticket in tickets:
        result = work(ticket)
        if planner.accepts(ticket, result):
            done[ticket] = result
        elif replans < most:
            tickets = planner.replan(goal, done, ticket)
            replans += 1
        else:
            raise RuntimeError(f"{ticket!r} is not done after {most} new plans")
    return {ticket: done[ticket] for ticket in tickets if ticket in done}
