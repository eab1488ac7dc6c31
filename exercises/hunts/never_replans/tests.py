def test_the_planner_is_called_after_every_n_steps(program):
    for every in (1, 2, 3, 4, 10):
        asked = [number for number in range(1, 22) if program.is_due(number, every)]
        wanted = list(range(1, 22, every))
        assert asked == wanted, f"every {every} steps: asked before the steps {asked}, wanted {wanted}"


def test_a_run_begins_with_a_plan(program):
    for every in (1, 2, 5):
        log = program.run(3, every)
        assert log[:2] == ["plan", "1"], f"every {every} steps: the run begins with {log[:2]}"
