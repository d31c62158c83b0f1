"""Shared set-up: one torch thread, and real data only where they are."""

import os
from pathlib import Path

import pytest
import torch
from hypothesis import HealthCheck, settings

torch.set_num_threads(1)
# readline, which pytest imports, exports COLUMNS=80 to child processes: the workers of -n.
os.environ.pop("COLUMNS", None)
os.unsetenv("COLUMNS")
settings.register_profile(
    "default",
    deadline=None,
    print_blob=True,
    derandomize=bool(os.environ.get("CI")),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    data = os.environ.get("LINKPARITY_DATA")
    if data and (Path(data) / "ml-100k").is_dir() and (Path(data) / "facebook").is_dir():
        return
    missing = pytest.mark.skip(reason="needs LINKPARITY_DATA with ml-100k and facebook")
    for item in items:
        if item.get_closest_marker("data"):
            item.add_marker(missing)
