"""Tables of scores: every row checked, its nodes and its kind numbered, as columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from linkparity.reading.columns import Columns, ReadOptions, pick_columns
from linkparity.reading.duckdb import BATCH, ROW, Duck, Input
from linkparity.reading.faults import Faults
from linkparity.reading.groups import NO_GROUP
from linkparity.reading.nodes import (
    NodeTable,
    described_side,
    no_rows,
    number_ends,
    number_values,
    read_nodes,
)
from linkparity.reading.pair_table import PairTable
from linkparity.reading.row_checks import LABELS, OK
from linkparity.reading.row_errors import Reader, duplicate, lacking
from linkparity.reading.row_query import RowQuery
from linkparity.reading.sql import Column, comparable
from linkparity.reading.store import ColumnStore
from linkparity.support.arrays import logit
from linkparity.support.errors import InputError
from linkparity.support.progress import with_progress

#: Bytes of a row in the columns, with logits and weights.
ROW_BYTES = 33
#: Rows whose pairs are compared at once, to find duplicates.
KEYS_AT_ONCE = 1 << 24


@dataclass(eq=False, kw_only=True)
class ArrayTable(PairTable):
    """A checked table whose rows are in arrays, ``(P,)`` each.

    Attributes:
        first: number of the source.
        second: number of the target.
        code: groups of both ends and the label in one number; no groups where one is unknown and
            kept. Groups of undirected pairs are in ascending order.
        score: the scores as given; empty for pairs without scores.
        logit: logits of scores that are probabilities.
        weight: the weights, if there are any.
        used: which rows count; None for all.
        before: scores of another table of the same pairs, if there is one.
    """

    first: np.ndarray
    second: np.ndarray
    code: np.ndarray
    score: np.ndarray
    logit: np.ndarray | None
    weight: np.ndarray | None
    used: np.ndarray | None
    before: np.ndarray | None = None

    def with_scores_of(self, other: PairTable) -> PairTable:
        """The table with the scores of another one beside its own; every pair must be in both."""
        assert isinstance(other, ArrayTable)
        return _beside(self, other)


def pick_all(
    scores: Input, nodes: Input | None, options: ReadOptions, compare: Input | None = None
) -> list[Columns]:
    """The columns of a table of scores and of one that it is compared with.

    A column of scores or labels that is named but not in the other has its usual name there; its
    labels and weights are not read.
    """
    found = [pick_columns(scores, nodes, options)]
    if compare is not None:
        options = replace(options, weight=None)
        named = {"score": options.score, "logit": options.logit, "label": options.label}
        if any(name not in (None, *compare.columns) for name in named.values()):
            options = replace(options, score=None, logit=None, label=None)
        found.append(replace(pick_columns(compare, nodes, options), label=None))
    return found


def read_scores(
    duck: Duck,
    scores: Input,
    nodes: Input | None,
    options: ReadOptions,
    several: bool = True,
    compare: Input | None = None,
    picked: list[Columns] | None = None,
    reader: Callable[..., Reader] | None = None,
) -> PairTable:
    """Read a table of scores, check every row, and number its nodes.

    Args:
        duck: where the tables are.
        scores: the table of scores.
        nodes: the table of nodes; None where the scores have the groups.
        options: which column holds what, and what happens to untidy rows.
        several: whether there must be two groups, to be compared.
        compare: another table of scores of the same pairs.
        picked: the columns of both tables, where they are chosen already.
        reader: reads the rows; into arrays by default.
    """
    reader = reader or ArrayReader
    picked = picked or pick_all(scores, nodes, options, compare)
    columns, tables = picked[0], [scores, *([] if compare is None else [compare])]
    for table, each in zip(tables, picked, strict=True):
        _check_numbers(table, each)
    flat = [
        Column.of(table, name)
        for table, each in zip(tables, picked, strict=True)
        for name in (each.source, each.target)
    ]
    faults = Faults()
    listed: tuple[NodeTable, Column] | None = None
    one_sided = not columns.target_groups
    if nodes is None:
        flat = list(comparable(*flat))
        groups = number_values(
            duck,
            [(scores, each) for each in (columns.source_groups, columns.target_groups) if each],
            scores.name, columns.source_groups, options.missing,
        )  # fmt: skip
    else:
        groups, known_nodes = read_nodes(duck, nodes, str(columns.node), options, faults)
        id_column = Column.of(nodes, known_nodes.column)
        *flat, node = comparable(*flat, replace(id_column, sql="node"))
        listed, one_sided = (known_nodes, node), False
        if options.bipartite:
            side = described_side(duck, (flat[0], flat[1]), node, scores, nodes)
            one_sided = side != "both"
            if side == "targets":
                picked = [each.exchanged for each in picked]
                flat = [flat[i ^ 1] for i in range(len(flat))]
    known = [(table, flat[2 * i], flat[2 * i + 1]) for i, table in enumerate(tables)]
    numbers = number_ends(duck, known, listed, options, one_sided)
    found = [
        reader(duck, table, each, options, groups, one_sided, numbers, listed).read(
            (source, target), several and not number, faults
        )
        for number, ((table, source, target), each) in enumerate(zip(known, picked, strict=True))
    ]
    if compare is None:
        return found[0]
    return found[0].with_scores_of(found[1])


def _check_numbers(table: Input, columns: Columns) -> None:
    """Refuse columns of scores, labels and weights that cannot hold numbers."""
    for name in filter(None, (columns.value, columns.label, columns.weight)):
        if not Column.of(table, name).numeric:
            kind = table.types[name].lower()
            problem = f"column {name!r} holds values of the type {kind}, not numbers"
            raise InputError(problem, "name another column", where=table.name)


class ArrayReader(Reader):
    """Reads the rows of a table in DuckDB into arrays.

    :meth:`read` is for tables of scores, :meth:`rows` for pairs without any.
    """

    def __init__(self, *known: Any) -> None:
        super().__init__(*known)
        duck, columns = self.duck, self.columns
        [(self.total,)] = duck.rows(f"SELECT count(*) FROM {self.given.view}")
        store = ColumnStore(duck.workspace, self.total, ROW_BYTES)
        self.first, self.second = store.array(np.int32), store.array(np.int32)
        self.code = store.array(np.int32)
        self.score = store.array(np.float64) if columns.value else np.empty(0)
        self.logit = None if columns.logits else store.array(np.float64)
        self.weight = None if columns.weight is None else store.array(np.float64)
        self.used = store.array(bool)
        self.counts = np.zeros(self.checks.grid**2 * LABELS, dtype=np.int64)

    def read(self, ids: tuple[Column, Column], several: bool, faults: Faults) -> PairTable:
        """All rows, checked; raises what is wrong with them, and earlier faults."""
        if not self.total:
            raise no_rows(self.given.name)
        table = self.rows(ids, faults)
        check_duplicates(table, faults)
        faults.raise_any()
        self.count_groups(table, self._sizes(table), several)
        return table

    def rows(self, ids: tuple[Column, Column], faults: Faults) -> ArrayTable:
        """All rows, each checked on its own."""
        groups = self.groups if self.nodes is None and self.groups.names else None
        query = RowQuery(self.given, self.columns, self.options, ids, groups)
        batches = self.duck.batches(query.sql(self.ends.tables))
        for batch in with_progress("reading rows", self.total, batches, lambda b: len(b["row"])):
            self._add(batch)
        dropped = self.check(faults)
        wrong = self.total > self.issues.count[OK, 0]
        return ArrayTable(
            duck=self.duck, given=self.given, lookup=self.lookup, columns=self.columns,
            options=self.options, names=self.groups.names, one_sided=self.one_sided,
            ends=replace(self.ends, group=np.maximum(self.node_group, NO_GROUP)), total=self.total,
            grid=self.checks.grid, counts=self.counts, dropped=dropped, nodes=self.nodes,
            first=self.first, second=self.second, code=self.code, score=self.score,
            logit=self.logit, weight=self.weight, used=self.used if wrong else None,
        )  # fmt: skip

    def ends_of(self, row: int) -> tuple[int, int]:
        """Numbers of the two nodes of a row, −1 for none."""
        return int(self.first[row]), int(self.second[row])

    def lacks_source_group(self, row: int) -> bool:
        """Whether the row has no group of its source, where rows have the groups."""
        ends = [Column.of(self.given, name) for name in self.columns.source_groups]
        signs = [each.unknown(self.options.missing) for each in ends]
        sql = f"SELECT {' OR '.join(signs)} FROM {self.given.view} WHERE {ROW} = {row}"
        return bool(self.duck.rows(sql)[0][0])

    def grouped_sides(self) -> list[bool]:
        """Whether any source, and any target, has a group in the table of nodes."""
        group = self.node_group
        ends = (end[:] for end in (self.first, self.second))
        return [bool((group[end[end >= 0]] > NO_GROUP).any()) for end in ends]

    def first_row(self, node: int) -> int:
        """The first row that a node is in."""
        return int(np.flatnonzero((self.first[:] == node) | (self.second[:] == node))[0])

    def _add(self, batch: dict[str, Any]) -> None:
        """Check some rows and write them to the columns."""
        row = batch["row"]
        if len(row) and int(row.max()) >= self.total:
            fix = "write it again, or correct its extension"
            raise InputError("is not a complete Parquet file", fix, where=self.given.name)
        found = self.checks.check(batch)
        self.issues.add(row, found.kind)
        self.counts += np.bincount(found.code[found.used], minlength=len(self.counts))
        for name, node, group in (("ga", "a", found.first), ("gb", "b", found.second)):
            if name in batch:
                self._note_groups(batch[node], group)
        at: Any = row
        if len(row) and row[-1] - row[0] == len(row) - 1 and (np.diff(row) == 1).all():
            at = slice(int(row[0]), int(row[-1]) + 1)
        self.first[at], self.second[at], self.code[at] = batch["a"], batch["b"], found.code
        self.used[at] = found.used
        if "score" in batch:
            self.score[at] = batch["score"]
        if self.logit is not None:
            with np.errstate(invalid="ignore"):
                self.logit[at] = logit(batch["score"])
        if self.weight is not None:
            self.weight[at] = batch["weight"]

    def _note_groups(self, node: np.ndarray, group: np.ndarray) -> None:
        """Keep the groups that rows give to their nodes, and the first node with two."""
        known = np.flatnonzero(node >= 0)
        node, group = node[known], group[known]
        before = self.node_group[node]
        self.node_group[node] = group
        torn = self.node_group[node] != group
        torn |= (before > NO_GROUP - 1) & (before != group)
        if torn.any() and self.torn is None:
            at = np.flatnonzero(torn)[0]
            several = {int(g) for g in group[node == node[at]]} | {int(before[at])}
            low, *_, high = sorted(several - {NO_GROUP - 1})
            self.torn = int(node[at]), low, high

    def _sizes(self, table: ArrayTable) -> np.ndarray:
        """Nodes of each group in the rows that count."""
        present = np.zeros(self.ends.count, dtype=bool)
        for low in range(0, self.total, KEYS_AT_ONCE):
            part = slice(low, low + KEYS_AT_ONCE)
            rows = slice(None) if table.used is None else np.flatnonzero(table.used[part])
            for end in (self.first, self.second)[: 1 if self.one_sided else 2]:
                node = end[part][rows]
                present[node[node >= 0]] = True
        group = self.node_group[present]
        return np.bincount(group[group >= 0], minlength=len(self.groups.names) + 1)


def _keys_of_part(table: ArrayTable, part: int, parts: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows that count and one number for the pair of each, of a part of the lower nodes."""
    keys = np.empty(table.total if parts == 1 else 0, dtype=np.int64)
    rows, found = np.arange(len(keys)), []
    for low in range(0, table.total, BATCH):
        piece = slice(low, low + BATCH)
        first, second = (end[piece].astype(np.int64) for end in (table.first, table.second))
        if not table.options.ordered:
            first, second = np.minimum(first, second), np.maximum(first, second)
        mine = None if table.used is None else np.asarray(table.used[piece])
        if parts > 1:
            here = first % parts == part
            mine = here if mine is None else mine & here
        first *= table.ends.count
        first += second
        if mine is None:
            keys[piece] = first
        else:
            at = np.flatnonzero(mine)
            found.append((at + low, first[at]))
    if found:
        rows, keys = (np.concatenate(each) for each in zip(*found, strict=True))
    return rows, keys


def check_duplicates(table: ArrayTable, faults: Faults) -> None:
    """Every pair once: an error by default, or the first row of each."""
    parts, repeats, later = -(-table.total // KEYS_AT_ONCE), 0, []
    worst: tuple[int, int] | None = None
    for part in range(parts):
        rows, keys = _keys_of_part(table, part, parts)
        ordered = np.sort(keys)
        if not (ordered[1:] == ordered[:-1]).any():
            continue
        order = np.argsort(keys, kind="stable")
        keys, rows = keys[order], rows[order]
        again = np.append(False, keys[1:] == keys[:-1])
        start = np.flatnonzero(~again)
        first = rows[start][np.cumsum(~again) - 1]
        repeats += int(again.sum())
        later.append(rows[again])
        at = np.flatnonzero(again)[rows[again].argmin()]
        if worst is None or rows[at] < worst[1]:
            worst = int(first[at]), int(rows[at])
    if worst is None:
        return
    if table.options.untidy.duplicates == "error":
        faults.add(duplicate(table, *worst, repeats))
    if table.used is None:
        table.used = np.ones(table.total, dtype=bool)
    gone = np.concatenate(later)
    table.used[gone] = False
    table.counts = table.counts - np.bincount(table.code[gone], minlength=len(table.counts))
    table.dropped["duplicates"] = repeats


def _beside(table: ArrayTable, other: ArrayTable) -> ArrayTable:
    """A table with the scores of another one beside its own; every pair must be in both."""
    store = ColumnStore(table.duck.workspace, table.total, 8)
    before = store.array(np.float64)
    parts = -(-table.total // KEYS_AT_ONCE)
    for part in range(parts):
        mine, theirs = (_keys_of_part(each, part, parts) for each in (table, other))
        (rows, keys), (other_rows, other_keys) = mine, theirs
        order, other_order = np.argsort(keys), np.argsort(other_keys)
        for one, two, known, others in (
            (table, other, mine, theirs), (other, table, theirs, mine)
        ):  # fmt: skip
            absent = ~np.isin(known[1], others[1], assume_unique=True)
            if absent.any():
                raise lacking(one, two, int(known[0][absent].min()), int(absent.sum()))
        before[rows[order]] = other.score[other_rows[other_order]]
    table.before, table.other = before, other
    return table
