"""When does each step of a plan start? Any number of steps can run at once."""

PLAN = {  # step: (minutes, the steps that it depends on)
    "unit tests": (1, []),
    "build image": (8, ["unit tests"]),
    "back up": (8, []),
    "check backup": (1, ["back up"]),
    "deploy": (2, ["build image", "check backup"]),
}


def start_times(plan):
    """Return the minute in which each step starts, by step: the minute in which its last dependency ends."""
    starts, now = {}, 0
    while len(starts) < len(plan):
        level = [
            step
            for step, (_, needs) in plan.items()
            if step not in starts and all(needed in starts for needed in needs)
        ]
        for step in level:
            starts[step] = now
        now += max(plan[step][0] for step in level)
    return starts


if __name__ == "__main__":
    starts = start_times(PLAN)
    for step, (minutes, _) in PLAN.items():
        print(f"{step:13}{'.' * starts[step]}{'#' * minutes}")
    print(max(starts[step] + minutes for step, (minutes, _) in PLAN.items()), "minutes")
