"""Put the results of earlier steps into the parameters of a step, and call its tool."""


def resolve(value, results):
    """Return a parameter with its references resolved, such as {step_1_result}.

    A parameter that consists of one reference becomes the result itself. Inside a longer string, a result is inserted
    as text. In a list, each item is resolved.
    """
    for id, result in results.items():
        value = value.replace(f"{{step_{id}_result}}", str(result))
    return value


def write_report(sections):
    return f"report with {len(sections)} sections"


FOUND = ["Wind is growing", "Solar is so cheap", "Storage is slow"]

if __name__ == "__main__":
    print(FOUND)
    print(write_report(resolve("{step_1_result}", {"1": FOUND})))
