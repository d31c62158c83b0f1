"""The KL-divergence to the I-projection as a loss term: section 4 of the paper."""

from collections.abc import Mapping
from typing import Any, NamedTuple
from weakref import ref

import numpy as np
import torch
from torch import Tensor, nn

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.base import Layout
from linkparity.criteria.cells import check_prepared, find_criterion
from linkparity.projection.fit import Fit, FitGoal, PairSums, check_tolerance, fit_tilts
from linkparity.projection.i_projection import i_project
from linkparity.projection.sums import Sums


class Parity(NamedTuple):
    """Tilts that bring pairs to parity, the mean divergence they cause, and the gap before."""

    fit: Fit
    kl: float
    gap: float


def largest_gap(cells: Cells, base: Sums) -> float:
    """Largest difference between two constraints' means that share a target; nan below two."""
    weight = cells.layout.weight(cells.mass)
    total, _ = cells.layout.entries.statistic_sums(base.yes, base.no)
    used = weight > 0
    gap = np.nan
    for block in np.unique(cells.layout.block[used]):
        means = (total / np.where(used, weight, 1))[used & (cells.layout.block == block)]
        if len(means) > 1:
            gap = float(np.nanmax([gap, means.max() - means.min()]))
    return gap


class WarmStart:
    """Tilts to start the solver from: where the last two steps of training point to.

    They are matched by cell, so that batches may lack groups.

    Attributes:
        key: ``(N, K)`` what tells each cell from any other, as in ``Layout.key``.
        tilt: ``(N,)`` its last tilt; nan for a cell never met.
        before: ``(N,)`` the tilt before that.
    """

    def __init__(self) -> None:
        self.key = np.empty((0, 0), dtype=np.int64)
        self.tilt = self.before = np.empty(0)
        self._layout: Layout | None = None

    def start(self, cells: Cells) -> np.ndarray:
        """``(M,)`` tilts extrapolated from the last two; 0 for cells never met or weightless."""
        last, before = self._matched(cells.layout)
        known = (cells.mass > 0) & ~np.isnan(last)
        return np.where(known, 2 * last - before, 0.0)

    def remember(self, cells: Cells, tilt: np.ndarray) -> None:
        """Keep the tilts of the cells that have weight, beside those of other batches."""
        last, before = self._matched(cells.layout)
        met = cells.mass > 0
        before = np.where(met, np.where(np.isnan(last), tilt, last), before)
        last = np.where(met, tilt, last)
        if self._layout is not cells.layout:
            other = self._others(cells.layout)
            self._layout = None if other.any() else cells.layout
            key = self.key[other].reshape(-1, cells.layout.key.shape[1])
            self.key = np.concatenate([cells.layout.key, key])
            last = np.concatenate([last, self.tilt[other]])
            before = np.concatenate([before, self.before[other]])
        self.tilt, self.before = last, before

    def _matched(self, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """``(M,)`` last tilts of the cells of ``layout``, and those before; nan where unknown."""
        if layout is self._layout:
            return self.tilt, self.before
        if self.key.shape == layout.key.shape and (self.key == layout.key).all():
            return self.tilt, self.before
        place = {tuple(row): i for i, row in enumerate(self.key.tolist())}
        at = np.array([place.get(tuple(row), -1) for row in layout.key.tolist()], dtype=np.int64)
        return np.append(self.tilt, np.nan)[at], np.append(self.before, np.nan)[at]

    def _others(self, layout: Layout) -> np.ndarray:
        """``(N,)`` which of the known cells ``layout`` does not have; none of another width."""
        if self.key.shape[1] != layout.key.shape[1]:
            return np.zeros(len(self.key), dtype=bool)
        here = set(map(tuple, layout.key.tolist()))
        return np.array([tuple(row) not in here for row in self.key.tolist()], dtype=bool)


class LastCells:
    """The cells of the last batch, for the next one if it has the same tensors, unchanged."""

    def __init__(self) -> None:
        self.cells: Cells | None = None
        self.known: list[object] = []
        self.tensors: list[ref[Tensor]] = []

    def __reduce__(self) -> tuple[type["LastCells"], tuple[()]]:
        return LastCells, ()  # nothing is copied or saved

    def prepare(self, criterion: Criterion, *arguments: object, **options: Any) -> Cells:
        """As :meth:`Cells.prepare`, whose results are remembered for tensors."""
        parts: list[object] = []
        for value in arguments:
            parts += [*value, *value.values()] if isinstance(value, Mapping) else [value]
        now = [criterion, options, *map(_version, parts)]
        alive = all(tensor() is not None for tensor in self.tensors)
        if self.cells is None or not alive or UNKNOWN in now or now != self.known:
            groups, *rest = arguments
            self.cells, self.known = Cells.prepare(groups, criterion, *rest, **options), now
            self.tensors = [ref(part) for part in parts if isinstance(part, Tensor)]
        return self.cells


#: Of a value that may change unseen.
UNKNOWN = "unknown"


def _version(value: object) -> object:
    """What tells that a tensor is the same and unchanged."""
    if value is None or isinstance(value, str):
        return (value,)
    if not isinstance(value, Tensor) or value.is_inference():
        return UNKNOWN
    return id(value), value.data_ptr(), value._version, value.shape, value.stride()


class FairnessRegularizer(nn.Module):
    r"""Mean KL-divergence between a model and its I-projection, for any training loop.

    .. math:: \mathcal{L}_F = \frac{1}{W} \sum_k w_k \mathrm{KL}(h_{F,k} \| h_k), \qquad
              \frac{\partial \mathcal{L}_F}{\partial x_k} = \frac{w_k}{W} (h_k - h_{F,k})

    with W the weight of the constrained pairs: 0 is parity on that criterion. Each call starts the
    solver from the tilts of the last, matched by group pair, so that batches may lack groups.

    Sorting pairs into cells costs more than the rest. It is not done again where groups, labels and
    weight are the tensors of the last call, and no operation of PyTorch has changed them since.
    Changes through shared memory, such as that of an array, are not seen: who makes them, or gives
    groups as arrays, passes prepared ``cells``.

    Args:
        criterion: as in :func:`i_project`.
        target: as in :func:`i_project`.
        options: ``tolerance``, ``tol``, ``directed``, ``combine``, ``sample_size``,
            ``through_target``, ``generator``, as in :func:`i_project`.

    >>> regularizer = FairnessRegularizer("dp", target=0.5)
    >>> regularizer(torch.zeros(3), groups=[0, 1, 2])
    tensor(0.)
    """

    def __init__(
        self, criterion: str | Criterion = "dp", target: object = "model", **options: Any
    ) -> None:
        super().__init__()
        self.criterion = find_criterion(criterion)
        self.target = target
        unknown = set(options) - _OPTIONS
        if unknown:
            raise TypeError(
                f"FairnessRegularizer: unknown option {min(unknown)!r}; "
                f"known: {', '.join(sorted(_OPTIONS))}"
            )
        if options.get("sample_size") is not None and options.get("generator") is None:
            options["generator"] = torch.Generator().manual_seed(0)
        self.options = options
        self.warm_start = WarmStart()
        self.last_cells = LastCells()

    def forward(
        self,
        logits: Tensor,
        groups: object = None,
        labels: object = None,
        weight: object = None,
        *,
        cells: Cells | None = None,
    ) -> Tensor:
        """Mean KL per weight of constrained pairs; 0 with zero gradient when there are none."""
        options = dict(self.options)
        prepare = {name: options.pop(name) for name in ("directed", "combine") if name in options}
        if cells is None:
            cells = self.last_cells.prepare(self.criterion, groups, labels, weight, **prepare)
        else:
            check_prepared("FairnessRegularizer", cells, self.criterion, groups, labels, weight)
        start = self.warm_start.start(cells)
        p = i_project(logits, cells=cells, target=self.target, start=start, **options)
        self.warm_start.remember(cells, p.exact_tilt)
        return p.kl / (cells.total or 1.0)

    def measure(self, source: PairSums, cells: Cells, bound: float, tol: float) -> Parity:
        """The same from sums per cell, wherever the pairs are stored; for training loops.

        Args:
            source: sums and divergence per cell at given tilts.
            cells: layout and weight of the cells; some weight must be constrained.
            bound: a number that no logit exceeds in absolute value.
            tol: accuracy of the tilts on the logit scale.
        """
        base = source(np.zeros(len(cells.mass)))
        goal = FitGoal.of(cells, self.target, self.tolerance, self.warm_start.start(cells))
        fit = fit_tilts(source, cells, goal, tol, bound)
        self.warm_start.remember(cells, fit.tilt)
        kl = fit.divergence(source, source(fit.tilt)) / cells.total
        return Parity(fit, kl, largest_gap(cells, base))

    @property
    def tolerance(self) -> float:
        """How far a mean may stay from the target."""
        return check_tolerance(self.options.get("tolerance", 0.0))

    @property
    def key(self) -> Tensor:
        """``(N, K)`` the cells whose tilts are remembered."""
        return torch.from_numpy(self.warm_start.key[~np.isnan(self.warm_start.tilt)])

    @property
    def tilt(self) -> Tensor:
        """``(N,)`` their last tilts."""
        return torch.from_numpy(self.warm_start.tilt[~np.isnan(self.warm_start.tilt)])

    def _save_to_state_dict(self, state: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        super()._save_to_state_dict(state, prefix, keep_vars)
        state |= {prefix + "key": self.key, prefix + "tilt": self.tilt}

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Take tilts of any number of cells."""
        if prefix + "key" in state and prefix + "tilt" in state:
            known = {name: state.pop(prefix + name).cpu().numpy() for name in ("key", "tilt")}
            self.warm_start = WarmStart()
            self.warm_start.key = known["key"]
            self.warm_start.tilt = self.warm_start.before = known["tilt"].astype(np.float64)
        super()._load_from_state_dict(state, prefix, *rest)

    def extra_repr(self) -> str:
        """Criterion and target."""
        return f"{self.criterion.name!r}, target={self.target!r}"


_OPTIONS = {
    "tolerance",
    "tol",
    "directed",
    "combine",
    "sample_size",
    "through_target",
    "generator",
}
