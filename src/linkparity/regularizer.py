"""The KL-divergence to the I-projection as a loss term: section 4 of the paper."""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from linkparity.criteria import Cells, Criterion
from linkparity.criteria.cells import check_prepared, find_criterion
from linkparity.projection import i_project


class FairnessRegularizer(nn.Module):
    r"""Mean KL-divergence between a model and its I-projection, for anybody's training loop.

    .. math:: \mathcal{L}_F = \frac{1}{W} \sum_k w_k \mathrm{KL}(h_{F,k} \| h_k), \qquad
              \frac{\partial \mathcal{L}_F}{\partial x_k} = \frac{w_k}{W} (h_k - h_{F,k})

    with W the weight of the constrained pairs: 0 is parity on that criterion. Each call starts the
    solver from the tilts of the last, matched by group pair, so that batches may lack groups.

    Args:
        criterion: as in :func:`i_project`.
        target: as in :func:`i_project`.
        options: ``tolerance``, ``tol``, ``directed``, ``combine``, ``sample_size``,
            ``through_target``, ``generator``, as in :func:`i_project`.

    >>> regularizer = FairnessRegularizer("dp", target=0.5)
    >>> regularizer(torch.zeros(3), groups=[0, 1, 2])
    tensor(0.)
    """

    key: Tensor
    tilt: Tensor

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
        self.register_buffer("key", torch.empty((0, 0), dtype=torch.int64))
        self.register_buffer("tilt", torch.empty(0, dtype=torch.float64))

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
            cells = Cells.prepare(groups, self.criterion, labels, weight, **prepare)
        else:
            check_prepared("FairnessRegularizer", cells, self.criterion, groups, labels, weight)
        p = i_project(logits, cells=cells, target=self.target, start=self._recall(cells), **options)
        self._remember(cells, p.tilt)
        return p.kl / (cells.total or 1.0)

    def _recall(self, cells: Cells) -> np.ndarray:
        """Last tilts of these cells; 0 for those never seen."""
        key = cells.layout.key
        if key.shape[1] != self.key.shape[1]:
            return np.zeros(len(key))
        known = self.key.cpu().numpy()
        if known.shape == key.shape and (known == key).all():
            return self.tilt.double().cpu().numpy()
        tilts = dict(zip(map(tuple, known.tolist()), self.tilt.tolist(), strict=True))
        return np.array([tilts.get(tuple(row), 0.0) for row in key.tolist()])

    @torch.no_grad()
    def _remember(self, cells: Cells, tilt: Tensor) -> None:
        """Keep the tilts of the cells that had pairs, beside those seen in other batches."""
        seen = cells.mass > 0
        key, now = cells.layout.key[seen], tilt.cpu().double().numpy()[seen]
        known = self.key.cpu().numpy()
        tilts = {}
        if known.shape[1] == key.shape[1]:
            tilts = dict(zip(map(tuple, known.tolist()), self.tilt.tolist(), strict=True))
        tilts |= dict(zip(map(tuple, key.tolist()), now.tolist(), strict=True))
        device = self.tilt.device
        with torch.inference_mode(False):
            keys = torch.tensor(list(tilts), dtype=torch.int64, device=device)
            self.key = keys.reshape(len(tilts), key.shape[1])
            self.tilt = torch.tensor(list(tilts.values()), dtype=torch.float64, device=device)

    def _load_from_state_dict(self, state: dict[str, Any], prefix: str, *rest: Any) -> None:
        """Take tilts of any number of cells."""
        for name in ("key", "tilt"):
            if (value := state.get(prefix + name)) is not None:
                setattr(self, name, torch.empty_like(value, device=self.tilt.device))
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
