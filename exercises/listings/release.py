"""A person approves a plan, tools carry it out, and after a failure it is taken back.

A plan is {"steps": [...], "rollback": [...]} and always valid. A step has an id, a
tool, params, and depends_on, a list of ids. Steps may be listed in any order: one
runs when all that it depends on is done. A step that raises has done nothing; then
no other is begun, and what was done is taken back: each entry of the rollback has a
tool and params, which never raise, and names the step that it `undoes`. Entries
stand in the order in which they are to be carried out.
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
                self.take_back(plan, results)
                break
        return results

    def call(self, step):
        return self.tools[step["tool"]](**step["params"])

    def take_back(self, plan, results):
        for entry in plan["rollback"]:
            self.call(entry)
