"""How far a model is from parity, in nats: ``kl``."""

import numpy as np
import torch

from linkparity.metrics.scored import NAN, Estimate, ScoredPairs


def kl(scored: ScoredPairs) -> Estimate:
    r"""Divergence from the closest model at parity to the model, per constrained pair.

    .. math:: \frac{1}{W} \sum_k w_k \, \mathrm{KL}(h_{F,k} \,\|\, h_k)

    with h_F the I-projection for the scored criterion, its target the model's own mean. 0 is parity
    on that criterion; there is no upper end. Weighted. ``nan`` where there is no projection, or
    fewer than two cells to be at parity with each other.
    """
    criterion = scored.criterion
    if not isinstance(criterion, str):
        return _none("a custom criterion's cells belong to the pairs it was made for")
    if criterion == "churn":
        return _none("churn is measured against a baseline's decisions, which no score carries")
    if scored.label is None and criterion not in ("dp", "weak-dp"):
        return _none(f"{criterion} needs labels, and none were given")
    if np.isinf(scored.logits).any():
        extreme = int(np.isinf(scored.logits).sum())
        return _none(f"{extreme} probabilities are exactly 0 or 1, which no tilt can move")
    return _project(scored, criterion)


def _project(scored: ScoredPairs, criterion: str) -> Estimate:
    from linkparity.projection import i_project
    from linkparity.solver import Infeasible, NotConverged

    weight = torch.from_numpy(scored.weight)
    try:
        projection = i_project(
            torch.from_numpy(scored.logits),
            groups=torch.from_numpy(scored.groups),
            criterion=criterion,
            labels=None if scored.label is None else torch.from_numpy(scored.label),
            weight=weight,
            target="model",
        )
    except (Infeasible, NotConverged) as error:
        return _none(str(error))
    constrained = projection.cell >= 0
    count = int(constrained.sum())
    cells = len(np.unique(projection.cell[constrained].numpy()))
    if cells < 2:
        return Estimate(NAN, count, reason=f"needs pairs in two cells of {criterion}, got {cells}")
    return Estimate(float(projection.kl) / float(weight[constrained].sum()), count)


def _none(reason: str) -> Estimate:
    return Estimate(NAN, 0, reason=reason)
