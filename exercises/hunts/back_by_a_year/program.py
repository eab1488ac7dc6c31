"""Carry out a plan; when a step fails, make the calls of the plan's rollback list."""


def run(plan, tools):
    """Carry out a plan, and return the calls that were made, in order.

    A step is {"id", "tool"}. It can have "when", the name of a tool: if that tool returns False, the step is skipped. A
    rollback entry is {"tool"}, and can have "of", the id of the step that it undoes. The entries are called in order:
    those whose step was done, and those without "of".
    """
    calls, results = [], {}
    for step in plan["steps"]:
        if "when" in step and not tools[step["when"]]():
            continue
        try:
            calls.append(step["tool"])
            results[step["id"]] = tools[step["tool"]]()
        except Exception:
            for entry in plan["rollback"]:
                calls.append(entry["tool"])
                tools[entry["tool"]]()
            break
    return calls


class Site:
    """Version 2 is live; the backup of version 1 is a year old."""

    def __init__(self):
        self.live = "version 2"
        names = "run_tests deploy restore_backup tell_team"
        self.tools = {name: getattr(self, name) for name in names.split()}

    def run_tests(self):
        raise AssertionError("3 tests fail")

    def deploy(self):
        self.live = "version 3"

    def restore_backup(self):
        self.live = "version 1"

    def tell_team(self):
        pass


PLAN = {
    "steps": [{"id": "1", "tool": "run_tests"}, {"id": "2", "tool": "deploy"}],
    "rollback": [{"tool": "restore_backup", "of": "2"}, {"tool": "tell_team"}],
}

if __name__ == "__main__":
    site = Site()
    print("calls:", ", ".join(run(PLAN, site.tools)))
    print("live:", site.live)
