"""A person approves a plan, tools carry it out, and a failure rolls it back.

A plan is {"steps": [...], "rollback": [...]} and always valid. A step has an id, a
tool, params, and depends_on, a list of ids. Steps can be listed in any order: a step
runs when all of its dependencies are done. A step that raises has done nothing; then
no other step starts, and the done steps are rolled back. Each entry of the rollback
has a tool and params, and names the step that it `undoes`; it never raises. The
entries are listed in the order in which they run.
"""


class Release:
    def __init__(self, planner, approve, tools):
        self.planner, self.approve, self.tools = planner, approve, tools

    def run(self, task):
        """Return "rejected", "failed" or "released"."""
        plan = self.planner(task, sorted(self.tools))
        if not self.approve(plan):
            return "rejected"
        self.carry_out(plan)
        return "released"

    def carry_out(self, plan):
        results = {}
        for step in plan["steps"]:
            if not all(id in results for id in step["depends_on"]):
                continue
            try:
                results[step["id"]] = self.call(step)
            except Exception as error:
                results[step["id"]] = error
                self.roll_back(plan, results)
                break
        return results

    def call(self, step):
        return self.tools[step["tool"]](**step["params"])

    def roll_back(self, plan, results):
        for entry in plan["rollback"]:
            self.call(entry)
