"""Independent ways to the same numbers: pair by pair, brentq, cvxpy with Clarabel, linprog."""

import warnings
from itertools import combinations_with_replacement, pairwise

import cvxpy as cp
import numpy as np
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.special import expit, logsumexp


def group_pair(pair):
    """The key of a pair's cell, written as a person would."""
    known = sorted(g for g in pair if g != -1)
    return tuple(known) or None


def constraints_of(groups, criterion, labels):
    """Lists of (target key, [(pair, statistic is p or 1 − p)]) for each constraint."""
    rows = {}
    for k, pair in enumerate(groups):
        key = group_pair(np.atleast_1d(pair))
        if key is None:
            continue
        label = None if labels is None else int(labels[k])
        if criterion == "dp":
            rows.setdefault((None, key), []).append((k, 1))
        elif criterion == "weak-dp":
            if len(key) == 2:
                rows.setdefault((None, key[0] == key[1]), []).append((k, 1))
        elif criterion == "eo":
            if label:
                rows.setdefault((None, key), []).append((k, 1))
        elif criterion == "equalized-odds":
            rows.setdefault((label, key), []).append((k, 1))
        elif criterion == "accuracy":
            rows.setdefault((None, key), []).append((k, 1 if label else 0))
        elif criterion == "churn":
            rows.setdefault((None, key), []).append((k, 0 if label else 1))
        else:
            raise KeyError(criterion)
    return [(target, members) for (target, _), members in rows.items()]


def primal(logits, rows, weight, target, tolerance=0.0, labels=None):
    """KL of the I-projection by an interior-point solver on the primal, pair by pair."""
    h = expit(logits)
    p = cp.Variable(len(h))
    entropy = cp.entr(p) + cp.entr(1 - p)
    constant = weight @ np.logaddexp(0, logits)
    cost = constant - cp.sum(cp.multiply(weight, entropy + cp.multiply(logits, p)))

    def mean(members, values):
        share = np.array([weight[k] for k, _ in members])
        terms = [values[k] if sign else 1 - values[k] for k, sign in members]
        return sum(w * t for w, t in zip(share, terms, strict=True)) / share.sum()

    constraints = []
    for key in {key for key, _ in rows}:
        mine = [members for k, members in rows if k == key and sum(weight[i] for i, _ in members)]
        every = [member for members in mine for member in members]
        if target == "free":
            d = cp.Variable()
        elif target == "model":
            d = mean(every, h)
        elif target == "data":
            d = mean(every, np.asarray(labels, dtype=float))
        elif isinstance(target, dict):
            d = target[key]
        else:
            d = target
        for members in mine:
            gap = mean(members, p) - d
            constraints += [cp.abs(gap) <= tolerance] if tolerance else [gap == 0]
    problem = cp.Problem(cp.Minimize(cost), constraints)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it may fall short of 1e-10; callers ask for 1e-6
        problem.solve(solver=cp.CLARABEL, tol_gap_abs=1e-10, tol_gap_rel=1e-10, tol_feas=1e-10)
    return problem.value, p.value


def suboptimality(logits, tilt, rows, weight, target, tolerance):
    """An upper bound on how far the KL of tilted logits is above the optimum, by a linear program.

    KL is convex in p and its gradient is the tilt, so that KL(p) − KL(q) ≤ Σ w·tilt·(p − q) for
    every q that the constraints allow. None if they allow none.
    """
    size, keys = len(logits), sorted({key for key, _ in rows})
    means, middle = np.zeros((len(rows), size + len(keys))), np.zeros(len(rows))
    for row, (key, members) in enumerate(rows):
        index = [k for k, _ in members]
        means[row, index] = weight[index] / weight[index].sum()
        if target == "free":
            means[row, size + keys.index(key)] = -1.0
        else:
            every = [k for other, more in rows if other == key for k, _ in more]
            h = np.average(expit(logits[every]), weights=weight[every])
            middle[row] = h if target == "model" else target
    bounds = np.concatenate([means, -means]), np.concatenate([middle, -middle]) + tolerance
    cost = np.concatenate([weight * tilt, np.zeros(len(keys))])
    best = linprog(cost, *bounds, bounds=(0, 1), method="highs")
    return None if best.status == 2 else weight @ (tilt * expit(logits + tilt)) - best.fun


def scalar_tilt(logits, weight, goal):
    """The tilt of one cell by brentq on the logit of its mean."""
    log_weight = np.log(weight)

    def error(t):
        z = logits + t
        yes = logsumexp(log_weight - np.logaddexp(0, -z))
        no = logsumexp(log_weight - np.logaddexp(0, z))
        return yes - no - goal

    low, high = goal - logits.max() - 1, goal - logits.min() + 1
    return brentq(error, low, high, xtol=1e-13, rtol=1e-14)


def logit_of_mean(logits, weight):
    """log Σwσ(x) − log Σwσ(−x)."""
    log_weight = np.log(weight)
    yes = logsumexp(log_weight - np.logaddexp(0, -logits))
    return yes - logsumexp(log_weight - np.logaddexp(0, logits))


def pair_cells(size):
    """The unordered group pairs in the documented order."""
    return list(combinations_with_replacement(range(size), 2))


def shared_tilts(logits, groups, criterion, labels, weight):
    """By pair of groups, the tilt whose means are nearest to the model's own, by scipy alone.

    Every constraint about a pair of groups shares its tilt. Of equally near tilts, and of those
    1e-4 further where one mean that falls and rises cannot meet its target, the one nearest 0.
    """
    rows = [(key, np.array(m).T) for key, m in constraints_of(groups, criterion, labels)]

    def mean(members, tilt):
        which, sign = members
        p = expit(logits[which] + tilt)
        return np.average(np.where(sign == 1, p, 1 - p), weights=weight[which])

    targets = {
        key: mean(np.hstack([members for other, members in rows if other == key]), 0.0)
        for key, _ in rows
    }
    found = {}
    for pair in {group_pair(groups[members[0, 0]]) for _, members in rows}:
        own = [(k, m) for k, m in rows if group_pair(groups[m[0, 0]]) == pair]

        def distance(t, own=own):
            return np.sqrt(sum((mean(members, t) - targets[key]) ** 2 for key, members in own))

        def error(t, own=own):
            return mean(own[0][1], t) - targets[own[0][0]]

        crossed = roots(error) if len(own) == 1 else []
        found[pair] = min(crossed or nearly_least(distance, 1e-4 * (len(own) == 1)), key=abs)
    return found


def roots(function, reach=24.0, step=0.2):
    """Where a function of one number changes its sign."""
    grid = np.arange(-reach, reach + step / 2, step)
    ends = pairwise(grid)
    return [brentq(function, a, b, xtol=1e-13) for a, b in ends if function(a) * function(b) < 0]


def nearly_least(function, slack, reach=24.0, step=0.2):
    """Where a function of one number is least, or ``slack`` above that."""
    grid = np.arange(-reach, reach + step / 2, step)
    start = grid[np.argmin([function(t) for t in grid])]
    bounds = (start - step, start + step)
    best = minimize_scalar(function, bounds=bounds, method="bounded", options={"xatol": 1e-12})
    if not slack:
        return [best.x]
    near = [0.0] if function(0.0) <= best.fun + slack else []
    return near + roots(lambda t: function(t) - best.fun - slack)
