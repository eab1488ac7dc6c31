"""Insert the results of earlier steps into the text of a step."""

import re

REFERENCE = re.compile(r"\$\{?(\d+)\}?")


def resolve(text, results):
    """Return the text with each reference, written ${3}, replaced by the result of that step.

    `results` maps step numbers to results. A reference without a result stays as it is; $3 is three dollars.
    """
    return REFERENCE.sub(lambda match: str(results.get(int(match[1]), match[0])), text)


RESULTS = {1: "Lisbon", 2: "May", 3: "the tram", 4: "the castle", 5: "a hotel by the river"}

if __name__ == "__main__":
    print(resolve("Find lunch in ${1} in ${2} for $5.", RESULTS))
