"""How well the embedding of a node tells its group: ``rb``."""

import warnings
from typing import Any

import numpy as np

from linkparity.metrics.scored_pairs import NAN, Estimate, ScoredPairs

HELD_OUT = 0.2
FOLDS = 3
SMALLEST = 5  # holding out a fifth of five nodes leaves one to test on, and three for three folds


def rb(scored: ScoredPairs) -> Estimate:
    r"""Representation bias: held-out AUC of a logistic regression from embedding to group.

    .. math:: \mathrm{AUC}\big(\mathrm{softmax}(W z_v + b),\ s_v\big), \quad v \text{ held out}

    0.5 says that no linear classifier found the group in the embedding, 1 that it is written there
    in full. Standardised embeddings of the nodes with a group; a fifth of them held out, and
    C = 100⁻² … 100² with L1 and L2 chosen by three folds on the rest (saga, 100 iterations), all
    stratified by group; one-versus-rest and weighted by group size for more than two groups. Groups
    of fewer than five nodes are left out and named. ``nan`` without embeddings or a second group.
    """
    if scored.embedding is None or not scored.embedding.shape[-1]:
        return Estimate(NAN, 0, "nodes", reason="the model has no embeddings")
    if scored.node_group is None:
        return Estimate(NAN, 0, "nodes", reason="no groups of nodes were given")
    sizes = np.bincount(scored.node_group[scored.node_group >= 0])
    kept = np.flatnonzero(sizes >= SMALLEST)
    small = np.flatnonzero((sizes > 0) & (sizes < SMALLEST))
    note = _left_out(scored, small, sizes)
    if len(kept) < 2:
        reason = f"needs two groups of {SMALLEST} nodes or more, got {len(kept)}"
        return Estimate(NAN, int(sizes[kept].sum()), "nodes", reason=reason, note=note)
    nodes = np.isin(scored.node_group, kept)
    points, group = scored.embedding[nodes], scored.node_group[nodes]
    if not np.isfinite(points).all():
        reason = "the embedding is not finite everywhere"
        return Estimate(NAN, len(group), "nodes", reason=reason, note=note)
    return Estimate(_held_out_auc(points, group, scored.seed), len(group), "nodes", note=note)


def _held_out_auc(points: np.ndarray, group: np.ndarray, seed: int) -> float:
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.metrics import roc_auc_score
    from sklearn.model_selection import train_test_split

    x, x_test, y, y_test = train_test_split(
        points, group, test_size=HELD_OUT, stratify=group, random_state=seed
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        search = _grid_search(two=len(np.unique(group)) == 2, seed=seed).fit(x, y)
    chance = search.predict_proba(x_test)
    if chance.shape[1] == 2:
        return float(roc_auc_score(y_test, chance[:, 1]))
    return float(roc_auc_score(y_test, chance, multi_class="ovr", average="weighted"))


def _grid_search(two: bool, seed: int) -> Any:
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import GridSearchCV
    from sklearn.pipeline import Pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = LogisticRegression(solver="saga", max_iter=100, random_state=seed)
    return GridSearchCV(
        Pipeline([("scale", StandardScaler()), ("classify", classifier)]),
        {"classify__C": 100.0 ** np.arange(-2, 3), "classify__l1_ratio": [0.0, 1.0]},
        scoring="roc_auc" if two else "roc_auc_ovr_weighted",
        cv=FOLDS,
    )


def _left_out(scored: ScoredPairs, small: np.ndarray, sizes: np.ndarray) -> str:
    if not len(small):
        return ""
    named = (scored.names[g] if g < len(scored.names) else str(g) for g in small)
    listed = ", ".join(f"{name} ({sizes[g]})" for name, g in zip(named, small, strict=True))
    return f"groups of fewer than {SMALLEST} nodes are left out: {listed}"
