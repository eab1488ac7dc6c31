"""Carry out a plan; after a failure, replan and try again."""


def run(plan, tools, replan, attempts=3):
    """Carry out the plan and return the results by step; a finished step is never carried out again.

    When a step fails, `replan(plan, failed)` returns a whole new plan, in any order. After `attempts` failures:
    RuntimeError.
    """
    for _ in range(attempts):
        results = {}
        for step in plan:
            try:
                results[step] = tools[step]()
            except Exception:
                plan = replan(plan, step)
                break
        else:
            return results
    raise RuntimeError(f"not done after {attempts} attempts")


class Shop:
    """A shop that can't ship before the address is complete."""

    def __init__(self):
        self.log, self.address = [], False
        self.tools = {"charge the card": self.charge, "ship": self.ship, "ask for the address": self.ask}

    def charge(self):
        self.log.append("20 euros taken from the card")

    def ask(self):
        self.address = True
        self.log.append("address complete")

    def ship(self):
        if not self.address:
            raise ValueError("no address")
        self.log.append("parcel sent")


if __name__ == "__main__":
    shop = Shop()
    run(["charge the card", "ship"], shop.tools, lambda plan, failed: ["ask for the address", *plan])
    print(*shop.log, sep="\n")
