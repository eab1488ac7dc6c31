"""A collector on this machine, and no exporter that is left behind."""

from collections.abc import Iterator
from typing import Any

import pytest

from planexec_lab import spans
from tests.spans.collecting import Collector


@pytest.fixture(autouse=True)
def exporters_end_with_their_test(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Shut down the exporters of a test: a retry that goes on in its thread would disturb the next test's random numbers."""
    make, made = spans.otlp, list[Any]()

    def otlp(*args: Any, **options: Any) -> Any:
        made.append(make(*args, **options))
        return made[-1]

    monkeypatch.setattr(spans, "otlp", otlp)
    yield
    for exporter in made:
        exporter.shutdown()


@pytest.fixture
def collector() -> Iterator[Collector]:
    made = Collector()
    yield made
    made.close()
