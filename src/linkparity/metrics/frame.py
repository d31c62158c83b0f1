"""The cells of a view in the shape of fairlearn's ``MetricFrame``."""

from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np

from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.metrics.views import cell_labels


@dataclass(frozen=True, eq=False)
class CellFrame:
    """What ``fairlearn.metrics.MetricFrame`` offers, for those who do not have fairlearn.

    Attributes:
        overall: Series of ``pairs``, ``links``, ``mean`` and ``link_mean`` over all cells.
        by_group: The same, one row per cell that has a pair.
    """

    overall: Any
    by_group: Any

    def difference(self, method: str = "between_groups") -> Any:
        """Largest difference between two cells, or with ``to_overall`` from the whole.

        That of ``mean`` is ``dp``, that of ``link_mean`` is ``eo``.
        """
        if method == "between_groups":
            return self.by_group.max() - self.by_group.min()
        if method == "to_overall":
            return (self.by_group - self.overall).abs().max()
        raise ValueError(
            f"difference: method must be 'between_groups' or 'to_overall', got {method!r}"
        )


def cell_frame(scored: ScoredPairs) -> Any:
    """A real ``MetricFrame`` when fairlearn is installed, a :class:`CellFrame` otherwise."""
    if find_spec("pandas") is None:
        raise ImportError("scores.frame needs pandas; pip install pandas, or use scores.cells")
    if not len(scored.in_cells):
        raise ValueError(
            f"scores.frame: no pair lies in a cell of the view {scored.view!r}; "
            "give groups to some of the pairs"
        )
    return plain_frame(scored) if find_spec("fairlearn") is None else metric_frame(scored)


def plain_frame(scored: ScoredPairs) -> CellFrame:
    """A :class:`CellFrame` of the scored pairs."""
    import pandas as pd

    cells = scored.means
    columns = {"pairs": cells.pairs.astype(float), "mean": cells.mean}
    total = {"pairs": float(cells.pairs.sum()), "mean": _mean(cells.mean, cells.weight)}
    if scored.label is not None:
        columns |= {"links": cells.links, "link_mean": cells.link_mean}
        total |= {
            "links": float(cells.links.sum()),
            "link_mean": _mean(cells.link_mean, cells.links),
        }
    index = pd.Index(cell_labels(cells.groups), name="groups", dtype=object)
    frame = pd.DataFrame(columns, index=index)
    return CellFrame(pd.Series(total), frame[frame["pairs"] > 0])


def metric_frame(scored: ScoredPairs) -> Any:
    """A ``fairlearn.metrics.MetricFrame`` of the scored pairs, one row per pair and cell."""
    import pandas as pd

    cells, used = scored.cells, scored.in_cells
    times = cells.member[scored.code[used]].tocoo()
    pair, cell = np.repeat(used[times.row], times.data), np.repeat(times.col, times.data)
    label = np.zeros(len(pair)) if scored.label is None else scored.label[pair]
    metrics = {"pairs": _pairs, "mean": _weighted_mean}
    if scored.label is not None:
        metrics |= {"links": _links, "link_mean": _link_mean}
    names = np.array(cell_labels(cells.groups), dtype=object)
    return import_module("fairlearn.metrics").MetricFrame(
        metrics=metrics,
        y_true=label,
        y_pred=scored.prob[pair],
        sensitive_features=pd.Series(names[cell], name="groups"),
        sample_params={"mean": {"sample_weight": scored.weight[pair]}},
    )


def _pairs(label: np.ndarray, prob: np.ndarray) -> float:
    return float(len(prob))


def _links(label: np.ndarray, prob: np.ndarray) -> float:
    return float(np.sum(label))


def _link_mean(label: np.ndarray, prob: np.ndarray) -> float:
    return _mean(np.asarray(prob), np.asarray(label))


def _weighted_mean(label: np.ndarray, prob: np.ndarray, sample_weight: np.ndarray) -> float:
    return _mean(np.asarray(prob), np.asarray(sample_weight))


def _mean(value: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean where there is weight; ``nan`` where there is none at all."""
    some = weight > 0
    return float(np.average(value[some], weights=weight[some])) if some.any() else float("nan")
