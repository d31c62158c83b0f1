"""The figures of the paper's tables: Buyl & De Bie (2021), appendix C."""

import csv
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Published(NamedTuple):
    """Mean and standard deviation over ten seeds."""

    mean: float
    std: float


@cache
def published() -> dict[tuple[str, str, str, str], Published]:
    """By data set, model, criterion (``none``, ``dp``, ``eo``) and measure; γ = 100.

    >>> published()["polblogs", "cne", "dp", "auc"]
    Published(mean=0.882, std=0.0045)
    """
    with (files("linkparity.experiments.paper") / "results.csv").open(encoding="utf-8") as lines:
        return {
            (row["dataset"], row["model"], row["criterion"], row["measure"]): Published(
                float(row["mean"]), float(row["std"])
            )
            for row in csv.DictReader(lines)
            if row["criterion"] in ("none", "dp", "eo")
        }
