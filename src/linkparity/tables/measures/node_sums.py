"""Covariances of means from sums per node, in the engine."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import ibis
import numpy as np
import pyarrow as pa

from linkparity.metrics.intervals.covariance import CellCovariance, Spread
from linkparity.tables.measures.table_sums import RowScores, beside
from linkparity.tables.reading.score_table import ScoreTable

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class CountedRows:
    """Rows as they count in means: each once, or by weight.

    Attributes:
        table: classified rows.
        code: ``(K,)`` combinations of groups and label.
        rows: Ibis table ``a, b, code, p`` and the weight ``w``, 1 where each row counts once.
        count: ``(K,)`` sum of w².
        mean: ``(K,)`` mean of p with the weights w².
        square: ``(K,)`` sum of w² times the squared distance from that mean.
    """

    table: ScoreTable
    code: np.ndarray
    rows: Any
    count: np.ndarray
    mean: np.ndarray
    square: np.ndarray


def counted_rows(scores: RowScores, by_weight: bool) -> CountedRows:
    """The rows as they count in means; sums of squared weights take a scan."""
    table, stats = scores.table, scores.stats
    weight = scores.rows.w if by_weight else ibis.literal(1.0)
    rows = scores.rows.select("a", "b", "code", "p", w=weight)
    if not by_weight:
        return CountedRows(table, stats.code, rows, stats.count, scores.mean, scores.square)
    near = beside(table, rows, stats, middle=scores.weighted_mean)
    off, square = near.p - near.middle, near.w * near.w
    found = table.engine.small(
        near.group_by("code").aggregate(
            n=square.sum(), s=(square * off).sum(), ss=(square * off * off).sum()
        )
    )
    sums = np.zeros((3, len(stats.code)))
    sums[:, np.searchsorted(stats.code, found["code"])] = [found[name] for name in ("n", "s", "ss")]
    count, first, second = sums
    shift = first / np.where(count > 0, count, 1.0)
    square = np.maximum(second - first * shift, 0.0)
    return CountedRows(table, stats.code, rows, count, scores.weighted_mean + shift, square)


@dataclass(frozen=True, eq=False)
class CellSet:
    """M cells whose means are compared.

    Attributes:
        member: sparse ``(K, M)``, how often a pair of a combination counts in a cell.
        mean: ``(M,)``, ``nan`` for an empty cell.
        total: ``(M,)`` sum of the weights.
    """

    member: "csr_array"
    mean: np.ndarray
    total: np.ndarray


def mean_spreads(
    rows: CountedRows, sets: Sequence[CellSet], by_node: bool, partners: Any = None
) -> list[Spread]:
    """How well the means of several sets of cells are known.

    Args:
        rows: the rows, as they count.
        sets: over the combinations of the rows.
        by_node: whether pairs that share a node covary; else pairs are independent.
        partners: Ibis table ``code, p, w, code2, p2, w2`` of two rows that are of the same dyad.
    """
    found = [CellCovariance(each.mean, each.total, by_node) for each in sets]
    for each, covariance in zip(sets, found, strict=True):
        covariance.add_counted(rows.count, rows.mean, rows.square, each.member)
    if partners is not None:
        _add_partners(rows, partners, sets, found)
    if by_node:
        _add_nodes(rows, sets, found)
        options = rows.table.options
        if options.directed and not options.bipartite:
            _add_partners(rows, _returned(rows.rows), sets, found)
    return [covariance.result() for covariance in found]


def node_ends(table: ScoreTable, rows: Any, *columns: str) -> Any:
    """Every row once for each of its nodes: ``side, node`` and ``columns``.

    A node of a bipartite table is identified by its side too, as an id may occur on both.
    """
    kept = {name: rows[name] for name in columns}
    first = rows.select(side=ibis.literal(0, "int8"), node=rows.a.cast("int64"), **kept)
    other = ibis.literal(int(table.options.bipartite), "int8")
    return first.union(rows.select(side=other, node=rows.b.cast("int64"), **kept))


def _add_nodes(rows: CountedRows, sets: Sequence[CellSet], found: Sequence[CellCovariance]) -> None:
    """Add the products of sums per node: one GROUP BY over node and cell, then products."""
    engine = rows.table.engine
    sums = engine.keep(_node_sums(rows, sets), "node_sums")
    own = engine.small(
        sums.group_by("set", "cell").aggregate(
            uu=(sums.u * sums.u).sum(),
            bb=(sums.b * sums.b).sum(),
            fourth=(sums.b * sums.b * sums.b * sums.b).sum(),
        )
    )
    for number, covariance in enumerate(found):
        mine = own["set"] == number
        values = np.zeros((3, len(covariance.mean)))
        values[:, own["cell"][mine]] = [own[name][mine] for name in ("uu", "bb", "fourth")]
        products = None if covariance.pairwise else values[:2]
        covariance.add_products(nodes=products, fourth=values[2])
    wide = [number for number, each in enumerate(found) if each.pairwise]
    if wide:
        ordered = sums.filter(sums.set.isin(wide)).order_by("set", "side", "node")
        columns = ordered.select("set", "side", "node", "cell", "u", "b")
        _add_pairwise(whole_keys(engine.batches(columns), 3), found)


def _add_pairwise(
    batches: Iterable[tuple[np.ndarray, ...]], found: Sequence[CellCovariance]
) -> None:
    """Add the products between cells, from sums in the order of their sets and nodes."""
    from scipy.sparse import csr_array

    for number, side, node, *columns in batches:
        first = np.flatnonzero(np.append(True, number[1:] != number[:-1]))
        for part in map(slice, first, np.append(first[1:], len(number))):
            covariance = found[int(number[part.start])]
            new = (side[part][1:] != side[part][:-1]) | (node[part][1:] != node[part][:-1])
            at = np.append(0, np.cumsum(new))
            cell, u, b = (column[part] for column in columns)
            shape = (int(at[-1]) + 1, len(covariance.mean))
            each = (csr_array((values, (at, cell)), shape=shape) for values in (u, b))
            covariance.add_products(nodes=np.array([covariance.squares(sums) for sums in each]))


def whole_keys(
    batches: Iterable[tuple[np.ndarray, ...]], keys: int
) -> Iterator[tuple[np.ndarray, ...]]:
    """The same sorted rows, without a cut between rows that are equal in the first columns."""
    rest: tuple[np.ndarray, ...] = ()
    for batch in batches:
        columns = (
            [np.concatenate(pair) for pair in zip(rest, batch, strict=True)] if rest else batch
        )
        last = np.logical_and.reduce([column == column[-1] for column in columns[:keys]])
        cut = len(last) - int(np.count_nonzero(last))
        if cut:
            yield tuple(column[:cut] for column in columns)
        rest = tuple(column[cut:] for column in columns)
    if rest:
        yield rest


def _node_sums(rows: CountedRows, sets: Sequence[CellSet]) -> Any:
    """``side, node, set, cell``, the sum ``b`` of weights and ``u`` of weighted distances."""
    ends = node_ends(rows.table, rows.rows, "code", "p", "w")
    each = ends.group_by("side", "node", "code").aggregate(
        n=ends.w.sum(), s=(ends.w * ends.p).sum()
    )
    cells = rows.table.engine.lookup(_cells_of_codes(rows.code, sets))
    joined = each.inner_join(cells, each.code == cells.k)
    part = joined.select(
        "side", "node", "set", "cell",
        b=joined.times * joined.n, u=joined.times * (joined.s - joined.n * joined.mean),
    )  # fmt: skip
    return part.group_by("side", "node", "set", "cell").aggregate(u=part.u.sum(), b=part.b.sum())


def _cells_of_codes(code: np.ndarray, sets: Sequence[CellSet]) -> pa.Table:
    """Which cells of which set a code counts in, how often, and the mean there."""
    parts = []
    for number, each in enumerate(sets):
        member = each.member.tocoo()
        times = member.data.astype(np.float64)
        parts.append((code[member.row], np.full(len(times), number), member.col, times,
                      np.nan_to_num(each.mean)[member.col]))  # fmt: skip
    k, group, cell, times, mean = (np.concatenate(column) for column in zip(*parts, strict=True))
    return pa.table({
        "k": k.astype(np.int32), "set": group.astype(np.int32), "cell": cell.astype(np.int32),
        "times": times, "mean": mean,
    })  # fmt: skip


def _returned(rows: Any) -> Any:
    """The two rows of a dyad, (a, b) and (b, a)."""
    ahead = rows.filter(rows.a < rows.b).select("a", "b", "code", "p", "w")
    back = rows.select(a2=rows.b, b2=rows.a, code2=rows.code, p2=rows.p, w2=rows.w)
    return ahead.inner_join(back, (ahead.a == back.a2) & (ahead.b == back.b2))


def _add_partners(
    rows: CountedRows, both: Any, sets: Sequence[CellSet], found: Sequence[CellCovariance]
) -> None:
    """Add the products of two rows of a dyad."""
    w = both.w * both.w2
    sums = rows.table.engine.small(
        both.group_by("code", "code2").aggregate(
            n=w.sum(), s=(w * both.p).sum(), s2=(w * both.p2).sum(), ss=(w * both.p * both.p2).sum()
        )
    )
    first, second = (np.searchsorted(rows.code, sums[name]) for name in ("code", "code2"))
    for each, covariance in zip(sets, found, strict=True):
        one, two, mean = each.member[first], each.member[second], covariance.mean
        pairwise = covariance.pairwise

        n, s, s2, ss = (
            _member_products(one * sums[name][:, None], two, pairwise)
            for name in ("n", "s", "s2", "ss")
        )
        left, right = (mean[:, None], mean[None, :]) if pairwise else (mean, mean)
        square = ss - s * right - left * s2
        products = np.array([square + left * right * n, n])
        covariance.add_products(dyads=products + np.swapaxes(products, 1, -1))


def _member_products(one: Any, two: Any, pairwise: bool) -> np.ndarray:
    """Sums over rows of the products between cells, or of each cell with itself alone."""
    if not pairwise:
        return np.asarray((one * two).sum(axis=0)).ravel()
    return np.asarray((one.T @ two).toarray())
