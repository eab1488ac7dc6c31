"""PlanBench: plans that models wrote for Blocksworld and Logistics, judged by a state machine of ours."""

import re
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import cache

from tests.recorded.recount.source import Row, Source

BENCH = Source("karthikv792/LLMs-Planning", "b008bc4327112affd525035b9e82f93f54b9b3a3")
ROOT = "llm_planning_analysis"
NAMES = "red blue orange yellow white magenta black cyan green violet silver gold"
COLOURS = dict(zip(NAMES.split(), "abcdefghijkl", strict=True))
PROMPTS = {"": "one example", "_pddl": "one example; PDDL", "_zero_shot": "no example",
           "_zero_shot_pddl": "no example; PDDL"}  # fmt: skip
# The verbs of the same problems in misleading words ("mystery").
MISLEADING = {"attack": "pick-up", "succumb": "put-down", "overcome": "stack", "feast": "unstack"}
VERDICTS = ("valid", "cannot_run", "misses_goal", "no_plan", "malformed")

Fact = tuple[str, ...]
Facts = frozenset[Fact]
Action = tuple[Fact, ...]
Rule = Callable[[Fact], list[set[Fact]] | None]


def blocks(action: Fact) -> list[set[Fact]] | None:
    """What a Blocksworld action needs, adds and removes; None if there is no such action."""
    hand = ("handempty",)
    match action:
        case ("pick-up", x):
            needs = {("clear", x), ("ontable", x), hand}
            return [needs, {("holding", x)}, needs]
        case ("put-down", x):
            return [{("holding", x)}, {("clear", x), ("ontable", x), hand}, {("holding", x)}]
        case ("stack", x, y):
            needs = {("holding", x), ("clear", y)}
            return [needs, {("on", x, y), ("clear", x), hand}, needs]
        case ("unstack", x, y):
            needs = {("on", x, y), ("clear", x), hand}
            return [needs, {("holding", x), ("clear", y)}, needs]
    return None


def logistics(action: Fact) -> list[set[Fact]] | None:
    """What a Logistics action needs, adds and removes; None if there is no such action."""
    match action:
        case ("load-truck" | "load-airplane" as name, parcel, vehicle, place):
            kind = name.removeprefix("load-")
            parked = {(kind, vehicle), ("at", vehicle, place)}
            needs = parked | {("at", parcel, place), ("obj", parcel)}
            return [needs, {("in", parcel, vehicle)}, {("at", parcel, place)}]
        case ("unload-truck" | "unload-airplane" as name, parcel, vehicle, place):
            kind = name.removeprefix("unload-")
            needs = {(kind, vehicle), ("at", vehicle, place), ("in", parcel, vehicle)}
            return [needs, {("at", parcel, place)}, {("in", parcel, vehicle)}]
        case ("drive-truck", truck, here, there, city):
            needs = {("truck", truck), ("at", truck, here), ("in-city", here, city), ("in-city", there, city)}
            return [needs, {("at", truck, there)}, {("at", truck, here)}]
        case ("fly-airplane", plane, here, there):
            needs = {("airplane", plane), ("airport", here), ("airport", there), ("at", plane, here)}
            return [needs, {("at", plane, there)}, {("at", plane, here)}]
    return None


@cache
def problem(path: str) -> tuple[Facts, Facts]:
    """The start and the goal of a problem."""
    start, goal = BENCH.text(path).split("(:goal")
    return facts(start.split("(:init")[1]), facts(goal)


def facts(text: str) -> Facts:
    """The flat facts in a text of PDDL."""
    return frozenset(tuple(found.lower().split()) for found in re.findall(r"\(([^()]+)\)", text))


def verdict(plan: Action, start: Facts, goal: Facts, rule: Rule) -> str:
    """Carry out a plan, and return one of `VERDICTS`."""
    if not plan:
        return "no_plan"
    state: set[Fact] = set(start)
    for action in plan:
        effect = rule(action)
        if effect is None:
            return "malformed"
        needs, adds, removes = effect
        if not needs <= state:
            return "cannot_run"
        state = (state - removes) | adds
    return "valid" if goal <= state else "misses_goal"


@cache
def shortest(path: str) -> int:
    """The length of a shortest Blocksworld plan, by breadth-first search."""
    start, goal = problem(path)
    names = sorted({name for fact in start for name in fact[1:]})
    actions: list[Fact] = [(verb, x) for verb in ("pick-up", "put-down") for x in names]
    actions += [(verb, x, y) for verb in ("stack", "unstack") for x in names for y in names if x != y]
    effects = [effect for action in actions if (effect := blocks(action))]
    seen, queue = {start}, deque([(start, 0)])
    while queue:
        state, length = queue.popleft()
        if goal <= state:
            return length
        for needs, adds, removes in effects:
            after = (state - removes) | adds
            if needs <= state and after not in seen:
                seen.add(after)
                queue.append((after, length + 1))
    raise ValueError(f"{path}: no plan reaches the goal")


def pddl(text: str | list[str] | None) -> Action:
    """Read a plan in PDDL; colours become the letters of the problem, misleading words the usual ones."""
    found = re.findall(r"\(([^()]*)\)", "\n".join([text] if isinstance(text, str) else text or []).lower())
    words = [one.split() or [""] for one in found]
    return tuple(
        (MISLEADING.get(name, name), *(COLOURS.get(x, x) for x in rest if x != "block")) for name, *rest in words
    )


def prose(text: str) -> Action:
    """Read the plan of one turn of a conversation, a phrase in each line."""
    text = text.lower().split("[plan end]")[0].rsplit("[plan]", 1)[-1]
    lines = [re.sub(r"^\W*(\d+\.)?\s*", "", line.strip()).strip(" .*-") for line in text.splitlines()]
    return tuple(action for line in lines if (action := phrase(line)))


def phrase(line: str) -> Fact | None:
    """Read an English phrase as an action; None if it is none."""
    letters = tuple(COLOURS.get(x, x) for x in re.findall(r"(\w+) block", line))
    places = tuple(
        head[:1] + "-".join(rest) for head, *rest in (x.split("_") for x in re.findall(r"[a-z]+_[\d_]*\d", line))
    )
    for verb, name, count in (
        ("pick up", "pick-up", 1),
        ("put down", "put-down", 1),
        ("unstack", "unstack", 2),
        ("stack", "stack", 2),
    ):
        if line.startswith(verb) and letters:
            return (name, *letters[:count])
    if line.startswith(("load", "unload")) and len(places) == 3:
        vehicle = "airplane" if places[1].startswith("a") else "truck"
        return (f"{line.split()[0]}-{vehicle}", *places)
    if line.startswith("drive") and len(places) in (3, 4):  # without the city: that of the first place
        return ("drive-truck", *places[:3], "c" + places[1][1:].split("-")[0])
    return ("fly-airplane", *places) if line.startswith("fly") and len(places) == 3 else None


def label(engine: str) -> str:
    """A model's name without its provider."""
    return re.sub("_chat|_aws|_groq|-8192|-api", "", engine)


def answers(kinds: str, words: str = "blocksworld") -> Iterator[tuple[str, str, list[Row]]]:
    """Model, kind of prompt and answers of each file about problems with 4 or 5 blocks."""
    for path in sorted(BENCH.files):
        name = re.fullmatch(rf"{ROOT}/results/{words}/([^/]+)/task_1_plan_generation({kinds})\.json", path)
        if name:
            yield label(name[1]), name[2], BENCH.json(path)["instances"]


def place(answer: Row) -> str:
    """The file of the problem that an answer is about."""
    return f"{ROOT}/instances/blocksworld/generated_basic/instance-{answer['instance_id']}.pddl"


def judged(answer: Row) -> str:
    """The verdict on an answer about Blocksworld."""
    return verdict(pddl(answer.get("extracted_llm_plan")), *problem(place(answer)), blocks)


def blocks_plans() -> list[Row]:
    """A row for each model, prompt and length of the shortest plan."""
    rows = []
    for model, kind, items in answers("|".join(PROMPTS)):
        for lengths in ((2, 4), (6, 8), (10, 99)):
            some = Counter(judged(item) for item in items if lengths[0] <= shortest(place(item)) <= lengths[1])
            span = f"{lengths[0]}-{lengths[1]}" if lengths[1] < 99 else "10+"
            counts = {one: some[one] for one in VERDICTS}
            rows.append(
                {"model": model, "prompt": PROMPTS[kind], "shortest_plan": span, "problems": some.total()} | counts
            )
    return rows


def blocks_examples() -> list[Row]:
    """A row for each model: the same problems with and without an example in the prompt."""
    valid: dict[str, dict[str, dict[int, bool]]] = {}
    for model, kind, items in answers("|_zero_shot"):
        valid.setdefault(model, {})[kind] = {item["instance_id"]: judged(item) == "valid" for item in items}
    rows = []
    for model, kinds in valid.items():
        if len(kinds) == 2:
            pairs = Counter(
                (kinds[""][one], kinds["_zero_shot"][one]) for one in kinds[""].keys() & kinds["_zero_shot"]
            )
            rows.append({
                "model": model, "problems": pairs.total(), "both": pairs[True, True],
                "only_with": pairs[True, False], "only_without": pairs[False, True],
            })  # fmt: skip
    return rows


def blocks_other_words() -> list[Row]:
    """A row for each model and prompt: the same problems in the usual words, and in misleading words."""
    usual = {(model, kind): items for model, kind, items in answers("|_zero_shot")}
    rows = []
    for model, kind, others in answers("|_zero_shot", "mystery_blocksworld"):
        if (model, kind) in usual:
            plain, misled = Counter(map(judged, usual[model, kind])), Counter(map(judged, others))
            rows.append({
                "model": model, "prompt": PROMPTS[kind], "plans": plain.total(), "valid": plain["valid"],
                "plans_other_words": misled.total(), "valid_other_words": misled["valid"],
                "no_plan_other_words": misled["no_plan"],
            })  # fmt: skip
    return rows


def conversations() -> Iterator[tuple[str, str, list[tuple[list[Action], list[str]]]]]:
    """Domain, model, and for each problem the plans and their verdicts, round by round."""
    for domain, rule in (("blocksworld", blocks), ("logistics", logistics)):
        found = []
        for item in BENCH.json(f"{ROOT}/results/{domain}/gpt-4_chat/task_1_plan_generation_backprompting.json")[
            "instances"
        ]:
            where = f"{ROOT}/instances/{domain}/generated_basic/instance-{item['instance_id']}.pddl"
            plans = [prose(said["content"]) for said in item["messages"] if said["role"] == "assistant"]
            found.append((plans, [verdict(plan, *problem(where), rule) for plan in plans]))
        yield domain, "gpt-4", found
    for engine in ("o1-preview_chat", "o1-mini_chat", "deepseek-r1-api", "gpt-4o-mini-2024-07-18_chat"):
        found = []
        path = next(
            one for one in BENCH.files if one.startswith(f"{ROOT}/results_backprompting/blocksworld_hard/{engine}/")
        )
        for item in BENCH.json(path)["instances"]:
            where = f"{ROOT}/instances/blocksworld_hard/generated/instance-{item['instance_id']}.pddl"
            rounds = [item["step_wise_dict"][key] for key in sorted(item["step_wise_dict"], key=int)]
            plans = [pddl(one.get("llm_plan") or "") for one in rounds]
            found.append((plans, [verdict(plan, *problem(where), blocks) for plan in plans]))
        yield "blocksworld, hard", label(engine), found


def repeats(plans: list[Action]) -> bool:
    """Whether a plan occurs twice."""
    return len({*plans}) < len(plans)


def blocks_rounds() -> list[Row]:
    """A row for each round: a validator's words went back to the model."""
    rows = []
    for domain, model, found in conversations():
        solved = 0
        for number in range(max(len(plans) for plans, _ in found)):
            here = [(plans, verdicts[number]) for plans, verdicts in found if number < len(plans)]
            valid = sum(one == "valid" for _, one in here)
            solved += valid
            wrong = [plans for plans, one in here if one != "valid" and number > 0]
            again = [one for plans, one in here if repeats(plans[:number])]
            rows.append({
                "domain": domain, "model": model, "problems": len(found), "round": number + 1, "plans": len(here),
                "valid": valid, "solved": solved, "wrong_as_before": sum(plans[number] == plans[number - 1] for plans in wrong),
                "wrong_as_earlier": sum(plans[number] in plans[:number] for plans in wrong),
                "after_repeat": len(again), "solved_after_repeat": again.count("valid"),
            })  # fmt: skip
    return rows
