"""What every test stands on: no network, no real endpoint, and property tests that do the same on every CI run."""

import os

from hypothesis import HealthCheck, settings

from tests.network_cut import sitecustomize  # noqa: F401  (importing it cuts the network for this process)

for variable in [name for name in os.environ if name.startswith(("PLANEXEC_", "OPENAI_"))]:
    if variable != "PLANEXEC_COMPARE":
        del os.environ[variable]

settings.register_profile("here", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("quick", settings.get_profile("here"), max_examples=15)
settings.register_profile("ci", settings.get_profile("here"), derandomize=True, print_blob=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
