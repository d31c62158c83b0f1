"""How well the embedding of a node predicts its group: ``rb``."""

import warnings
from typing import Any

import numpy as np

from linkparity.metrics.intervals.estimates import NAN, Estimate
from linkparity.metrics.scored_pairs import ScoredPairs
from linkparity.support.errors import require
from linkparity.support.randomness import random_distinct, stream

HELD_OUT = 0.2
FOLDS = 3
#: A fifth of five nodes is one test node; the other four are enough for three folds.
MIN_GROUP = 5
#: Of more nodes, a sample is used: the time grows with their number, the answer hardly moves.
MAX_NODES = 20_000


def rb(scored: ScoredPairs) -> Estimate:
    r"""Representation bias: held-out AUC of a logistic regression from embedding to group.

    .. math:: \mathrm{AUC}\big(\mathrm{softmax}(W z_v + b),\ s_v\big), \quad v \text{ held out}

    0.5 is chance: no linear classifier found the group in the embedding; 1 is the worst. The
    embeddings of the nodes with a group are standardised; a fifth of them is held out; C = 100⁻² …
    100² and L1 or L2 are chosen by three folds on the rest (saga, 100 iterations); all is
    stratified by group. For more than two groups it is one-versus-rest, weighted by group size.
    Groups of fewer than five nodes are left out, with a note. Of more than 20,000 nodes, a random
    sample is used, in which every group has its share. ``nan`` without embeddings or a second
    group.
    """
    if scored.embedding is None or not scored.embedding.shape[-1]:
        return Estimate(NAN, 0, "nodes", reason="the model has no embeddings")
    if scored.node_group is None:
        return Estimate(NAN, 0, "nodes", reason="no groups of nodes were given")
    sizes = np.bincount(scored.node_group[scored.node_group >= 0])
    kept = np.flatnonzero(sizes >= MIN_GROUP)
    small = np.flatnonzero((sizes > 0) & (sizes < MIN_GROUP))
    note = _left_out(scored, small, sizes)
    if len(kept) < 2:
        reason = f"needs two groups of {MIN_GROUP} nodes or more, got {len(kept)}"
        return Estimate(NAN, int(sizes[kept].sum()), "nodes", reason=reason, note=note)
    require("sklearn", "rb")
    nodes = np.flatnonzero(np.isin(scored.node_group, kept))
    if len(nodes) > MAX_NODES:
        require("torch", "rb of a sample")
        sampled = f"over a random sample of {MAX_NODES:,} of {len(nodes):,} nodes"
        note = "; ".join(filter(None, (sampled, note)))
        nodes = _sample(nodes, scored.node_group[nodes], scored.seed)
    points, group = scored.embedding[nodes], scored.node_group[nodes]
    if not np.isfinite(points).all():
        reason = "the embedding is not finite everywhere"
        return Estimate(NAN, len(group), "nodes", reason=reason, note=note)
    return Estimate(_held_out_auc(points, group, scored.seed), len(group), "nodes", note=note)


def _sample(nodes: np.ndarray, group: np.ndarray, seed: int) -> np.ndarray:
    """About :data:`MAX_NODES` of the nodes: of each group its share, and five at least."""
    generator = stream(seed, "rb")
    chosen = []
    for g in np.unique(group):
        mine = nodes[group == g]
        count = max(MIN_GROUP, round(MAX_NODES * len(mine) / len(nodes)))
        chosen.append(mine[random_distinct(count, len(mine), generator).numpy()])
    return np.sort(np.concatenate(chosen))


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
    names = scored.source.kinds.names
    named = (names[g] if g < len(names) else str(g) for g in small)
    listed = ", ".join(f"{name} ({sizes[g]})" for name, g in zip(named, small, strict=True))
    return f"groups of fewer than {MIN_GROUP} nodes are left out: {listed}"
