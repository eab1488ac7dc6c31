"""Plans of two small models (GNN4TaskPlan), and the leaderboard of tau2-bench."""

import json
import re

from tests.recorded.recount.source import Row, Source

GRAPHS = Source("WxxShirley/GNN4TaskPlan", "f1486690f4fa00030bc7035f0dcc41904889aa2c")
TAU2 = Source("sierra-research/tau2-bench", "a2c024725189473d2d7cea3a5cfdbcc67478e41f")
BOARD = "web/leaderboard/public/submissions/"
FIXES = "web/leaderboard/public/blog/tau3-task-fixes.html"


def invented_tools() -> list[Row]:
    """A row for each data set and model: tools in its plans that are not in the list it was given."""
    rows = []
    for data in ("huggingface", "multimedia"):
        known = {node["id"] for node in GRAPHS.json(f"data/{data}/graph_desc.json")["nodes"]}
        for model in ("CodeLlama-13b", "mistral-7b"):
            lines = GRAPHS.text(f"prediction/{data}/{model}/direct.json").splitlines()
            plans = [[tool_of(node) for node in json.loads(line).get("task_nodes") or []] for line in lines]
            unknown = [sum(tool not in known for tool in plan) for plan in plans]
            rows.append({
                "data": data, "model": model, "plans": len(plans), "tools": sum(map(len, plans)),
                "unknown_tools": sum(unknown), "plans_with_unknown_tool": sum(map(bool, unknown)),
            })  # fmt: skip
    return rows


def tool_of(node: object) -> str:
    """The tool that a node of a plan names."""
    return str(node.get("task") if isinstance(node, dict) else node)


def leaderboard() -> list[Row]:
    """A row for each model and domain: text runs of the benchmark's authors, with one version and one simulated customer."""
    rows = []
    for path in sorted(TAU2.files):
        if not path.startswith(BOARD) or not path.endswith("/submission.json") or "/A_EXAMPLE" in path:
            continue
        entry = TAU2.json(path)
        method = entry.get("methodology") or {}
        version, customer = method.get("tau2_bench_version"), method.get("user_simulator")
        spoken = entry.get("modality", "text") != "text" or "voice_config" in entry
        if spoken or (version, customer, entry.get("submission_type")) != ("1.0.1", "gpt-5.2", "standard"):
            continue
        for domain, result in (entry.get("results") or {}).items():
            if result and result.get("pass_4") is not None:
                passes = {f"pass_{k}": round(result[f"pass_{k}"], 1) for k in (1, 2, 3, 4)}
                dollars = round(result["cost"], 4) if result.get("cost") else ""
                about = {"model": entry["model_name"], "effort": entry.get("reasoning_effort") or "", "domain": domain}
                rows.append(about | passes | {"dollars_per_run": dollars, "submitted": entry["submission_date"]})
    return rows


def task_fixes() -> list[Row]:
    """A row for each domain and model: its scores before and after the authors corrected faulty tasks."""
    page = TAU2.text(FIXES)
    fixed = {"airline": 27, "retail": 26}
    found = re.findall(r"pass([14]): \[([\d., ]+)\]", page)
    scores = [[float(one) for one in numbers.split(",")] for _, numbers in found]
    rows = []
    for number, domain in enumerate(fixed):
        before_1, before_4, after_1, after_4 = scores[4 * number : 4 * number + 4]
        for place, model in enumerate(("Claude Opus 4.5", "Claude Sonnet 4.5", "GPT-5.2 high")):
            rows.append({
                "domain": domain, "tasks_fixed": fixed[domain], "model": model,
                "pass_1_before": before_1[place], "pass_1_after": after_1[place],
                "pass_4_before": before_4[place], "pass_4_after": after_4[place],
            })  # fmt: skip
    return rows
