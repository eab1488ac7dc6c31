"""Carry out a plan with retries; roll back when a step finally fails."""


def run(steps, retries=1):
    """Carry out steps, given as (do, undo) pairs; return "finished" or "rolled back".

    A `do` that raises is retried, at most `retries` times. When it finally fails, every finished step is undone once,
    in reverse order. A `do` that raises has changed nothing.
    """
    undos = []
    for do, undo in steps:
        for attempt in range(retries + 1):
            undos.append(undo)
            try:
                do()
                break
            except Exception:
                if attempt == retries:
                    for call in reversed(undos):
                        call()
                    return "rolled back"
    return "finished"


class Bank:
    """An account, and a connection that fails at the first call."""

    def __init__(self):
        self.balance, self.calls = 100, 0

    def pay(self):
        self.calls += 1
        if self.calls == 1:
            raise ConnectionError("line down")
        self.balance -= 30

    def refund(self):
        self.balance += 30


def ship():
    raise RuntimeError("out of stock")


if __name__ == "__main__":
    bank = Bank()
    print("before:", bank.balance)
    print(run([(bank.pay, bank.refund), (ship, lambda: None)]))
    print("after:", bank.balance)
