"""The sums per cell that the solver asks for, from rows in a database: one scan each."""

from typing import Any

import numpy as np

from linkparity.criteria import Cells
from linkparity.projection.sums import Sums
from linkparity.support.optional import require
from linkparity.tables.engines.base import EXTRA
from linkparity.tables.measures.statistics import Statistics
from linkparity.tables.reading.expressions import movable
from linkparity.tables.reading.score_table import ScoreTable

#: Above this a tilt's exponential would swamp the short formula for the divergence.
STEEP = 30.0


class TableSums:
    r"""Sums over the rows of a score table; finite logits only.

    .. math:: e = \exp(-|x + t|), \quad s = 1 / (1 + e), \qquad
              \sigma = s \text{ or } e s, \quad 1 - \sigma = e s \text{ or } s

    Args:
        table: classified rows.
        stats: their combinations of groups and label.
        cell: ``(K,)`` cell of each combination, −1 for none.
        size: number of cells.
    """

    def __init__(self, table: ScoreTable, stats: Statistics, cell: np.ndarray, size: int) -> None:
        self.table = table
        self.stats = stats
        self.cell = cell
        self.size = size
        self.known = [(np.zeros(size), np.stack([stats.yes, stats.no, stats.spread]))]

    def __call__(self, tilt: np.ndarray) -> Sums:
        """The sums at ``tilt (M,)``."""
        return Sums(*(self._gather(part) for part in self.combined(tilt)))

    def combined(self, tilt: np.ndarray) -> np.ndarray:
        """``(3, K)`` sums of p, 1 − p and p(1 − p); those at 0 and the last are remembered."""
        for known, found in self.known:
            if np.array_equal(known, tilt):
                return found
        rows = self._tilted(tilt)
        z = rows.mutate(z=rows.x + rows.tilt)
        small = z.mutate(e=(-z.z.abs()).exp())
        part = small.mutate(s=1 / (1 + small.e))
        near, far = part.s, part.e * part.s
        ibis = require("ibis", "audit and project", EXTRA)
        sums = part.group_by("code").aggregate(
            yes=ibis.ifelse(part.z > 0, near, far).sum(),
            no=ibis.ifelse(part.z > 0, far, near).sum(),
            spread=(near * far).sum(),
        )
        found = self._by_code(sums, ("yes", "no", "spread"))
        self.known = [self.known[0], (tilt.copy(), found)]
        return found

    def divergence(self, tilt: np.ndarray) -> np.ndarray:
        r"""``(M,)`` KL-divergence of the tilted rows to the rows, in nats.

        With :math:`y = -|x|` and τ the tilt seen from that side,
        :math:`\tau\,\sigma(y + \tau) - \log(1 + \sigma(y)(e^\tau - 1))` per row; the first terms
        add up to :math:`t\,(\sum\sigma(x + t) - \#\{x > 0\})`, so only the logarithm is scanned.
        """
        ibis = require("ibis", "audit and project", EXTRA)
        each = self._each(tilt)
        rows = self._tilted(tilt, up=_expm1(each), down=_expm1(-each))
        right = rows.x > 0
        small = (-rows.x.abs()).exp()
        log = _log1p(small / (1 + small) * ibis.ifelse(right, rows.down, rows.up))
        if np.abs(each).max(initial=0.0) > STEEP:
            leap = ibis.ifelse(right, -rows.tilt, rows.tilt)
            steep = _softplus(leap - rows.x.abs()) - _softplus(-rows.x.abs())
            log = ibis.ifelse(leap > STEEP, steep, log)
        rows = rows.mutate(log=log, right=right.cast("int64"))
        sums = rows.group_by("code").aggregate(log=rows.log.sum(), right=rows.right.sum())
        logs, rights = self._by_code(sums, ("log", "right"))
        return self._gather(each * (self.combined(tilt)[0] - rights) - logs)

    def _each(self, tilt: np.ndarray) -> np.ndarray:
        """``(K,)`` the tilt of each combination, 0 where it is unconstrained."""
        each: np.ndarray = np.append(tilt, 0.0)[self.cell]
        return each

    def _tilted(self, tilt: np.ndarray, **more: np.ndarray) -> Any:
        """Rows with finite logits, and the numbers of their combination beside them."""
        return tilted_rows(self.table, self.stats, self._each(tilt), **more)

    def _by_code(self, expression: Any, names: tuple[str, ...]) -> np.ndarray:
        found = self.table.engine.small(expression)
        at = np.searchsorted(self.stats.code, found["code"])
        out = np.zeros((len(names), len(self.stats.code)))
        for i, name in enumerate(names):
            out[i, at] = found[name]
        return out

    def _gather(self, values: np.ndarray) -> np.ndarray:
        inside = self.cell >= 0
        return np.bincount(self.cell[inside], values[inside], self.size)


def tilted_rows(table: ScoreTable, stats: Statistics, each: np.ndarray, **more: np.ndarray) -> Any:
    """Rows with a finite logit and the ``tilt`` of their combination, ``each (K,)``."""
    rows = table.good
    if stats.kept:
        rows = rows.filter(movable(rows))
    return beside(table, rows, stats, tilt=each, **more)


def moved_rows(table: ScoreTable, stats: Statistics, each: np.ndarray) -> Any:
    """All rows that count, and what is added to their logits as ``t``: 0 where a score stays."""
    ibis = require("ibis", "audit and project", EXTRA)
    rows = beside(table, table.good, stats, t=each)
    return rows.mutate(t=ibis.ifelse(movable(rows), rows.t, 0.0)) if stats.kept else rows


def beside(table: ScoreTable, rows: Any, stats: Statistics, **columns: np.ndarray) -> Any:
    """Rows with numbers per combination ``(K,)`` beside them."""
    pa = require("pyarrow", "audit and project", EXTRA)
    data = {"k": pa.array(stats.code.astype(np.int32))}
    data |= {name: pa.array(np.asarray(value)) for name, value in columns.items()}
    small = table.engine.lookup(pa.table(data))
    joined = rows.inner_join(small, rows.code == small.k)
    return joined.select(*[joined[c] for c in rows.columns], *[joined[c] for c in columns])


def _expm1(values: np.ndarray) -> np.ndarray:
    return np.asarray(np.expm1(np.minimum(values, STEEP + 1)))


def _log1p(u: Any) -> Any:
    """log(1 + u) to the last digits although only log is there: Kahan's correction."""
    ibis = require("ibis", "audit and project", EXTRA)
    one = u + 1
    safe = ibis.ifelse(one == 1, 2.0, one)
    return ibis.ifelse(one == 1, u, safe.ln() * (u / (safe - 1)))


def sigmoid(z: Any) -> Any:
    """σ(z) as an expression, from exp(−|z|)."""
    ibis = require("ibis", "audit and project", EXTRA)
    small = (-z.abs()).exp()
    return ibis.ifelse(z > 0, 1 / (1 + small), small / (1 + small))


def _softplus(z: Any) -> Any:
    ibis = require("ibis", "audit and project", EXTRA)
    return ibis.greatest(z, 0.0) + _log1p((-z.abs()).exp())


def cells_of(stats: Statistics, criterion: str, directed: bool, labelled: bool) -> Cells:
    """The cells of a criterion over the K combinations, each as heavy as its pairs."""
    labels = stats.label if labelled else None
    return Cells.prepare(stats.key, criterion, labels, stats.count, directed=directed)
