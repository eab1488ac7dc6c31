"""The shop's own tests; each takes the application's `handle`."""


def test_health_answers(handle):
    assert handle("/health", {}, [])[0] == 200


def test_orders_are_listed(handle):
    assert handle("/orders", {}, [(7, 20)]) == (200, [7])


def test_total_is_the_sum(handle):
    assert handle("/total", {}, [(7, 20), (8, 5)]) == (200, 25)
