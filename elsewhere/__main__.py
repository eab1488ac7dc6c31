"""Run the suite: python -m elsewhere [NAME …] [--only CHECK,CHECK]"""

import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from elsewhere import features, suite


def main(arguments: list[str]) -> None:
    """Run the suite and write its results."""
    only = arguments[arguments.index("--only") + 1].split(",") if "--only" in arguments else []
    names = [one for one in arguments if one in suite.FRAMEWORKS] or [
        one for one in suite.FRAMEWORKS if Path(suite.python_of(one)).exists()
    ]
    print("Running:", ", ".join(names), flush=True)
    (suite.HERE / "results").mkdir(exist_ok=True)
    for name in names:
        program, file = suite.Program(name), suite.HERE / "results" / f"{name}.json"
        results: dict[str, Any] = json.loads(file.read_text()) if only and file.exists() else {}
        questions: dict[str, Callable[[], dict[str, Any]]] = {
            one: partial(suite.decide, program, one) for one in suite.CHECKS
        }
        questions |= {one: partial(features.decide, name, one) for one in features.TITLES}
        for one, question in questions.items():
            if not only or one in only:
                results[one] = question()
                print(f"{name:12} {one:14} {results[one]['cell']:34} {results[one]['seen']}", flush=True)
                if "without" in results[one]:
                    print(f"{'':62} without the lines: {results[one]['without']}", flush=True)
        if not only or "bars" in only:
            run = program.release()
            results["_bars"] = run.bars()
            results["_calls"] = {
                "model": len(run.calls),
                "input": sum(c.input_tokens for c in run.calls),
                "program": suite.code_lines(name),
            }
        file.write_text(json.dumps(results, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
