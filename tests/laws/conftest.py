"""How hard Hypothesis tries: a little while working, more by `uv run poe laws`, a lot with HYPOTHESIS_PROFILE=full."""

import os

from hypothesis import HealthCheck, settings

_common = {
    "deadline": None,
    "suppress_health_check": [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
}
settings.register_profile("small", max_examples=12, stateful_step_count=12, **_common)
settings.register_profile("more", max_examples=50, stateful_step_count=25, print_blob=True, **_common)
settings.register_profile("full", max_examples=200, stateful_step_count=40, print_blob=True, **_common)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "small"))
