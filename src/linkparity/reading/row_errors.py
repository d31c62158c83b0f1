"""What is wrong with the rows of a table of scores, in one sentence that names the first row."""

import numpy as np

from linkparity.reading.columns import Columns, ReadOptions, not_listed
from linkparity.reading.duckdb import Duck, Input
from linkparity.reading.faults import Faults
from linkparity.reading.groups import NO_GROUP, add_unknown, warn_of_one
from linkparity.reading.nodes import Ends, Groups, NodeTable, nearest_ids
from linkparity.reading.pair_table import PairTable, RowLookup
from linkparity.reading.row_checks import (
    BAD_LABEL,
    BAD_SCORE,
    BAD_WEIGHT,
    LOOP,
    NO_SCORE,
    NO_SOURCE,
    NO_TARGET,
    OK,
    IssueCounts,
    RowChecks,
)
from linkparity.reading.sql import Column
from linkparity.reading.untidy_errors import (
    duplicate_error,
    missing_id_error,
    self_loop_error,
    unknown_error,
)
from linkparity.support.display import counted, place
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean


class Reader:
    """Reads and checks the rows of one table of pairs; subclasses say where the rows are.

    Args:
        duck: where nodes and groups are numbered.
        given: the table.
        columns: which column holds what.
        options: how it is read.
        groups: the groups.
        one_sided: whether only sources have groups.
        ends: numbers of the ids.
        listed: the table of nodes with its comparable ids, if there is one.
    """

    #: Whether a self-loop may mean that the table is one of a bipartite graph.
    may_be_bipartite = True

    def __init__(
        self,
        duck: Duck,
        given: Input,
        columns: Columns,
        options: ReadOptions,
        groups: Groups,
        one_sided: bool,
        ends: Ends,
        listed: tuple[NodeTable, Column] | None,
    ) -> None:
        self.duck, self.given, self.columns, self.options = duck, given, columns, options
        self.groups, self.one_sided, self.ends = groups, one_sided, ends
        self.nodes = None if listed is None else listed[0]
        self.lookup = RowLookup(duck, given)
        self.issues = IssueCounts()
        group = ends.group
        if group is not None and options.untidy.unknown == "group":
            grouped = np.arange(ends.count) < (ends.sources if one_sided else ends.count)
            group = np.where(grouped & (group < 0), len(groups.names), group)
        self.checks = RowChecks(
            columns, options, len(groups.names), one_sided, group if listed is not None else None
        )
        self.node_group = np.full(ends.count, NO_GROUP - 1) if group is None else group
        #: A node with two groups, and its lowest and highest.
        self.torn: tuple[int, int, int] | None = None

    def read(self, ids: tuple[Column, Column], several: bool, faults: Faults) -> PairTable:
        """All rows, checked; raises what is wrong with them, and earlier faults.

        Args:
            ids: comparable ids of sources and targets.
            several: whether there must be two groups.
            faults: what was wrong before.
        """
        raise NotImplementedError

    def ends_of(self, row: int) -> tuple[int, int]:
        """Numbers of the two nodes of a row, −1 for none."""
        raise NotImplementedError

    def lacks_source_group(self, row: int) -> bool:
        """Whether the row has no group of its source, where rows have the groups."""
        raise NotImplementedError

    def grouped_sides(self) -> list[bool]:
        """Whether any source, and any target, has a group in the table of nodes."""
        raise NotImplementedError

    def first_row(self, node: int) -> int:
        """The first row that a node is in."""
        raise NotImplementedError

    def check(self, faults: Faults) -> dict[str, int]:
        """Add the first problem of each kind that no option resolves; what is left out."""
        first, count = self.issues.first.min(axis=1), self.issues.count.sum(axis=1)
        columns = self.columns
        score = ("a probability in [0, 1]", "if these are logits, name the column with {logit=}")
        if columns.logits:
            score = ("a finite logit", "fix the row, or give probabilities in a column 'score'")
        for kind, column, what, wanted, fix in (
            (NO_SOURCE, columns.source, "id", "an id", ""),
            (NO_TARGET, columns.target, "id", "an id", ""),
            (NO_SCORE, columns.value, "score", "a number", ""),
            (BAD_SCORE, columns.value, "score", *score),
            (BAD_LABEL, columns.label, "label", "0 or 1", "use 1 for a link, 0 for any other pair"),
            (BAD_WEIGHT, columns.weight, "weight", "a weight", "use finite numbers of 0 or more"),
        ):
            if not count[kind]:
                continue
            where, value = self.lookup.locate(int(first[kind]), str(column))
            if what == "id":
                faults.add(missing_id_error(where, int(count[kind])))
                continue
            problem = f"holds {value!r}, which is not {wanted}"
            if value is None or value == "":
                problem = f"the {what} is missing"
            faults.add(InputError(problem, fix or "fill it in or leave the row out", where=where))
        return self._dropped(int(first[LOOP]), int(count[LOOP]), faults)

    def _dropped(self, loop: int, loops: int, faults: Faults) -> dict[str, int]:
        """Rows that a policy leaves out; a fault where it does not."""
        dropped, policy = {}, self.options.untidy
        if loops:
            dropped["self-loops"] = loops
            if policy.self_loops == "error":
                where, node = self.lookup.locate(loop, self.columns.target)
                faults.add(self_loop_error(where, node, loops, bipartite=self.may_be_bipartite))
        if lost := int(self.issues.count[OK, 1]):
            dropped["unknown"] = lost
            if policy.unknown == "error":
                faults.add(self.unknown(int(self.issues.first[OK, 1]), lost))
        if self.torn is not None:
            faults.add(self._two_groups(*self.torn))
        return dropped

    def unknown(self, row: int, count: int) -> InputError:
        """A row has a node whose group is not known."""
        columns, nodes = self.columns, self.nodes
        ends = self.ends_of(row)
        if nodes is None:
            lost_first = self.lacks_source_group(row)
        else:
            lost_first = ends[0] < 0 or bool(self.node_group[ends[0]] < 0)
        column = columns.source if lost_first else columns.target
        groups = columns.source_groups if lost_first else columns.target_groups
        where, _ = self.lookup.locate(row, column if nodes is not None else groups[0])
        node = self.lookup.value(row, column)
        reason, advice = f"has no {self.options.attribute}", "fill it in"
        without = ""
        if nodes is None:
            return unknown_error(where, node, reason, advice, count)
        known = self.grouped_sides()
        if sum(known) == 1 and known[lost_first]:
            without = "sources" if lost_first else "targets"
        if ends[not lost_first] >= 0:
            reason = f"{reason} in {nodes.given.name}"
        else:
            reason, advice = not_listed(nodes.given, nodes.column, self.options.node)
            advice = did_you_mean(str(node), nearest_ids(self.duck, nodes)) + advice
        return unknown_error(where, node, reason, advice, count, without_groups=without)

    def _two_groups(self, node: int, low: int, high: int) -> InputError:
        """A node has two groups; the error names the first row that it occurs in."""
        row = self.first_row(node)
        column = (self.columns.source, self.columns.target)[int(self.ends_of(row)[0] != node)]
        where, value = self.lookup.locate(row, column)
        names = (*self.groups.names, "no value", "no value")
        problem = f"node {value!r} has two groups in this table, {names[low]!r} and {names[high]!r}"
        return InputError(problem, "keep one of them", where=where)

    def count_groups(self, table: PairTable, sizes: np.ndarray, several: bool) -> None:
        """Note the nodes per group; a single group is an error.

        Args:
            table: what is read.
            sizes: nodes of each group, and without one, that are in a row that counts.
            several: whether there must be two groups.
        """
        names = self.groups.names
        if sizes[len(names)]:
            names = add_unknown(names, self.given.name)
        table.names, table.sizes = names, tuple(sizes[: len(names)].tolist())
        occurring = np.flatnonzero(table.sizes)
        if len(occurring) < (2 if several else 1):
            which = "no group"
            if len(occurring):
                which = f"only one group, {names[occurring[0]]!r},"
            raise InputError(
                f"{which} has scores, and parity compares two or more",
                f"check column {self.options.attribute!r}",
                where=self.given.name,
            )
        warn_of_one(names, table.sizes, self.given.name)


def duplicate(table: PairTable, first: int, again: int, count: int) -> InputError:
    """Row ``again`` repeats row ``first``; ``count`` rows repeat another."""
    source, target = table.columns.source, table.columns.target
    values = [
        [table.lookup.value(row, column) for column in (source, target)] for row in (first, again)
    ]
    where = place(table.given.name, table.lookup.position(again), source)
    turned = bool(table.columns.value) and values[0][0] != values[1][0]
    turned = turned and not table.options.ordered
    pair = (values[1][0], values[1][1])
    before = table.lookup.position(first)
    return duplicate_error(where, pair, before, count, reversed_pair=turned)


def lacking(one: PairTable, two: PairTable, row: int, count: int) -> InputError:
    """The pair of a row of one table, and ``count`` pairs in all, are not in the other."""
    columns = (one.columns.source, one.columns.target)
    source, target = (one.lookup.value(row, name) for name in columns)
    problem = (
        f"the pair ({source!r}, {target!r}) is not in {two.given.name} "
        f"({counted(count, 'such pair')})"
    )
    fix = "a change is measured over the same pairs: give both tables the same rows"
    where = f"{one.given.name}: row {one.lookup.position(row):,}"
    return InputError(problem, fix, where=where)
