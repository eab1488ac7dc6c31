TITLES = {}


def decide(*a): ...
