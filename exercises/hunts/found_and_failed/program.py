"""Run the steps of a plan and report which of them failed."""


def run_plan(tools):
    """Call each tool, by step id; return the results by step id, and the list of the steps that failed.

    A step has failed if its tool raised. Every value that a tool returns is a result.
    """
    results = {}
    for id, tool in tools.items():
        try:
            results[id] = tool()
        except Exception as error:
            results[id] = f"ERROR: {error}"
    failed = [id for id, result in results.items() if str(result).startswith("ERROR")]
    return results, failed


def search_log():
    return "ERROR 401: 3 lines in the log"


def read_manual():
    raise FileNotFoundError("no manual")


if __name__ == "__main__":
    _, failed = run_plan({"search the log": search_log, "read the manual": read_manual})
    print("failed:", ", ".join(failed))
