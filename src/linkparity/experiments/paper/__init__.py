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
def published(strength: float = 0) -> dict[tuple[str, str, str, str], Published]:
    """By data set, model, criterion (``none``, ``dp``, ``eo``) and measure; γ = 100.

    ``strength`` is that of a method of its own, whose criterion is then ``none``.

    >>> published()["polblogs", "cne", "dp", "auc"]
    Published(mean=0.882, std=0.0045)
    >>> published(10)["polblogs", "cfc", "none", "auc"]
    Published(mean=0.92, std=0.0407)
    """
    own = {"adversary": "none"}
    kept = own if strength else {name: name for name in ("none", "dp", "eo")}
    with (files("linkparity.experiments.paper") / "results.csv").open(encoding="utf-8") as lines:
        return {
            (row["dataset"], row["model"], kept[row["criterion"]], row["measure"]): Published(
                float(row["mean"]), float(row["std"])
            )
            for row in csv.DictReader(lines)
            if row["criterion"] in kept and (not strength or float(row["strength"]) == strength)
        }
