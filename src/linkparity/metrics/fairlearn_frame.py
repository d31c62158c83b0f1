"""Cells as fairlearn's ``MetricFrame``."""

from importlib import import_module
from importlib.util import find_spec
from types import SimpleNamespace
from typing import Any

import numpy as np

from linkparity.metrics.cell_means import cell_labels
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.errors import InputError, require
from linkparity.support.registry import Registry


def cell_frame(scored: ScoredPairs) -> Any:
    """A ``MetricFrame`` of pairs, links and means per cell.

    Without fairlearn, an object with its attributes ``overall`` and ``by_group`` and its method
    ``difference``. The difference of ``mean`` is ``dp``, that of ``link_mean`` is ``eo``.
    """
    if not scored.means.pairs.any():
        raise InputError(
            f"no pair is in a cell of the view {scored.view!r}",
            "give groups to some of the pairs", caller="scores.frame",
        )  # fmt: skip
    return plain_frame(scored) if find_spec("fairlearn") is None else metric_frame(scored)


def plain_frame(scored: ScoredPairs) -> Any:
    """``overall``, ``by_group`` and ``difference`` from the cells' means, with pandas alone."""
    pd = require("pandas", "Scores.frame", "pandas")
    cells = scored.means
    columns = {"pairs": cells.pairs.astype(float), "mean": cells.mean}
    weights = {"mean": cells.weight}
    if scored.labelled:
        columns |= {"links": cells.links, "link_mean": cells.link_mean}
        weights |= {"link_mean": cells.links}
    total = {
        name: _mean(column, weights[name]) if name in weights else column.sum()
        for name, column in columns.items()
    }
    index = pd.Index(cell_labels(cells.groups), name="groups", dtype=object)
    by_group, overall = pd.DataFrame(columns, index=index)[cells.pairs > 0], pd.Series(total)

    def difference(method: str = "between_groups") -> Any:
        between, to_overall = by_group.max() - by_group.min(), (by_group - overall).abs().max()
        return Registry("method", {"between_groups": between, "to_overall": to_overall})[method]

    return SimpleNamespace(overall=overall, by_group=by_group, difference=difference)


def metric_frame(scored: ScoredPairs) -> Any:
    """A ``fairlearn.metrics.MetricFrame`` of the scored pairs, one row per pair and cell."""
    pd = require("pandas", "Scores.frame", "pandas")
    rows = scored.rows
    times = scored.member[rows.kind].tocoo()
    pair, cell = np.repeat(times.row, times.data), np.repeat(times.col, times.data)
    label = np.maximum(scored.source.kinds.label, 0)[rows.kind]
    metrics = {
        "pairs": lambda label, prob: float(len(prob)),
        "mean": lambda label, prob, sample_weight: _mean(prob, sample_weight),
    }
    if scored.labelled:
        metrics |= {
            "links": lambda label, prob: float(np.sum(label)),
            "link_mean": lambda label, prob: _mean(prob, label),
        }
    names = np.array(cell_labels(scored.cells.groups), dtype=object)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    return import_module("fairlearn.metrics").MetricFrame(
        metrics=metrics,
        y_true=label[pair].astype(np.float64),
        y_pred=rows.prob[pair],
        sensitive_features=pd.Series(names[cell], name="groups"),
        sample_params={"mean": {"sample_weight": weight[pair]}},
    )


def _mean(value: Any, weight: Any) -> float:
    """Weighted mean of the values with weight; ``nan`` where there is none."""
    some = np.asarray(weight) > 0
    if not some.any():
        return float("nan")
    return float(np.average(np.asarray(value)[some], weights=np.asarray(weight)[some]))
