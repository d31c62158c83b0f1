"""The figures of the paper's tables: Buyl & De Bie (2021), section 5 and appendix C."""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.resources import files
from typing import NamedTuple

#: What the authors' regularized rows were trained with.
GAMMA = 100.0
PAIRS = "sampled"
#: Strengths that the paper gives to methods with a strength of their own.
STRENGTHS = {"cfc": (0.0, 10.0, 100.0, 1000.0)}


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
    return {
        (row["dataset"], row["model"], kept[row["criterion"]], row["measure"]): Published(
            float(row["mean"]), float(row["std"])
        )
        for row in _rows("results.csv")
        if row["criterion"] in kept and (not strength or float(row["strength"]) == strength)
    }


@cache
def published_seconds() -> dict[tuple[str, str, str], float]:
    """Median run time by data set, model and criterion; ``adversary`` for cfc with a strength.

    >>> published_seconds()["facebook", "gae", "dp"]
    1072.0
    """
    rows = _rows("runtimes.csv")
    return {(r["dataset"], r["model"], r["criterion"]): float(r["seconds"]) for r in rows}


def _rows(name: str) -> Iterator[dict[str, str]]:
    with (files("linkparity.paper") / name).open(encoding="utf-8") as lines:
        yield from csv.DictReader(lines)
