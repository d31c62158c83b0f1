"""Which column holds what, by its usual name or as told."""

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Literal

from linkparity.graph.groups import GraphWarning
from linkparity.graph.untidy import Unknown
from linkparity.support.errors import InputError
from linkparity.support.registry import nearest
from linkparity.tables.engines.base import Input

CHOICES = {
    "unknown": ("error", "group", "drop"),
    "duplicates": ("error", "first"),
    "self_loops": ("error", "drop"),
}


@dataclass(frozen=True)
class Reading:
    """How a score table is read; ``None`` for a column is its usual name.

    Attributes:
        sensitive: attributes that make the groups; several are crossed.
        unknown: what becomes of rows whose node has no known value.
        duplicates: what becomes of a pair that stands twice.
        self_loops: what becomes of a pair of a node with itself.
        directed: whether (a, b) and (b, a) are two pairs.
        bipartite: whether sources and targets are two kinds of nodes.
    """

    sensitive: tuple[str, ...]
    source: str | None = None
    target: str | None = None
    score: str | None = None
    logit: str | None = None
    label: str | None = None
    node: str | None = None
    unknown: Unknown = "error"
    duplicates: Literal["error", "first"] = "error"
    self_loops: Literal["error", "drop"] = "error"
    directed: bool = False
    bipartite: bool = False

    def __post_init__(self) -> None:
        check_choices(unknown=self.unknown, duplicates=self.duplicates, self_loops=self.self_loops)

    @property
    def attribute(self) -> str:
        """The name of what the groups are groups of."""
        return " & ".join(self.sensitive)

    @property
    def ordered(self) -> bool:
        """Whether the two ends of a pair are told apart."""
        return self.directed or self.bipartite


def check_choices(**told: str) -> None:
    """Refuse what says nothing about untidy rows."""
    for name, value in told.items():
        known = CHOICES[name]
        if value not in known:
            raise ValueError(
                f"{name} must be {' or '.join(map(repr, known))}, got {value!r}"
                f"{nearest(str(value), list(known)).removesuffix(';')}"
            )


@dataclass(frozen=True)
class Columns:
    """The columns of one score table.

    Attributes:
        value: the column of the scores.
        logits: whether they are logits, not probabilities.
        source_groups: columns that hold the source's groups, empty when a node table does.
        target_groups: the same for the target; empty when it has none.
        swapped: whether source and target are exchanged.
    """

    source: str
    target: str
    value: str
    logits: bool
    label: str | None
    source_groups: tuple[str, ...] = ()
    target_groups: tuple[str, ...] = ()
    swapped: bool = False

    @property
    def turned(self) -> "Columns":
        """The same with the ends exchanged, where only targets have groups."""
        return replace(
            self,
            source=self.target,
            target=self.source,
            source_groups=self.target_groups,
            target_groups=self.source_groups,
            swapped=not self.swapped,
        )

    @property
    def used(self) -> set[str]:
        """The names of all these columns."""
        label = () if self.label is None else (self.label,)
        ends = (self.source, self.target, self.value)
        return {*ends, *label, *self.source_groups, *self.target_groups}


def pick_columns(scores: Input, reading: Reading, with_nodes: bool) -> Columns:
    """Find the columns of a score table, or say which is missing and what is near."""
    columns = scores.columns
    if len(columns) < 3:
        raise ValueError(
            f"{scores.name}: needs columns source, target and score (or logit), "
            f"got {', '.join(columns)}"
        )
    taken = (reading.score, reading.logit, reading.label, "score", "logit", "label")
    source, target = pick_ends(scores, reading.source, reading.target, taken)
    value, logits = _value(scores, reading)
    label = _chosen(scores, reading.label, "--label") if reading.label else None
    if label is None and "label" in columns and value != "label":
        label = "label"
    if label is None:
        _warn_of_label(scores, {source, target, value})
    if with_nodes:
        return Columns(source, target, value, logits, label)
    first = tuple(f"source_{name}" for name in reading.sensitive)
    second = tuple(f"target_{name}" for name in reading.sensitive)
    if reading.bipartite and not set(first) & set(columns) and set(second) <= set(columns):
        return Columns(source, target, value, logits, label, (), second).turned
    lone = not set(second) & set(columns)
    for name in first if lone else (*first, *second):
        if name not in columns:
            raise ValueError(
                f"{scores.name}: no column {name!r}{nearest(name, columns)} give the groups as "
                f"columns source_{reading.sensitive[0]} and target_{reading.sensitive[0]}, "
                "or a table of nodes with --nodes"
            )
    return Columns(source, target, value, logits, label, first, () if lone else second)


def _warn_of_label(scores: Input, taken: set[str]) -> None:
    """Say so when a column that is not read looks like the labels."""
    other = {str(name).lower(): name for name in scores.columns if name not in taken}
    if near := get_close_matches("label", other, n=1, cutoff=0.75):
        name = other[near[0]]
        warnings.warn(
            f"{scores.name}: no column 'label'; if {name!r} holds the labels, say --label {name}",
            GraphWarning,
            stacklevel=6,
        )


def pick_node_column(nodes: Input, sensitive: tuple[str, ...], node: str | None) -> str:
    """The column of ids of a node table, once its attributes are there too."""
    for name in sensitive:
        if name not in nodes.columns:
            raise ValueError(
                f"{nodes.name}: no column {name!r}{nearest(name, nodes.columns)} "
                f"columns: {', '.join(nodes.columns)}"
            )
    if node is not None:
        return _chosen(nodes, node, "--node")
    if "node" in nodes.columns:
        return "node"
    other = [name for name in nodes.columns if name not in sensitive]
    if not other:
        raise ValueError(
            f"{nodes.name}: has no column of ids beside {', '.join(map(repr, sensitive))}; add one"
        )
    return other[0]


def not_in(nodes: Input, column: str, told: str | None) -> str:
    """That an id is not in a node table; where the column was guessed, which one that was."""
    if told is not None or column == "node":
        return f"is not in {nodes.name}"
    return f"is not in {nodes.name}, column {column!r} (--node names another column of ids)"


def pick_ends(
    table: Input, source: str | None, target: str | None, taken: Sequence[str | None] = ()
) -> tuple[str, str]:
    """The columns of the two nodes of a pair: as told, by their usual names, or the first two.

    The first two stand in only where neither name is there, and never a column that is ``taken``.
    """
    columns = table.columns
    if len(columns) < 2:
        raise ValueError(f"{table.name}: needs columns source and target, got {', '.join(columns)}")
    ends = []
    for place, (usual, told, option) in enumerate(
        (("source", source, "--source"), ("target", target, "--target-column"))
    ):
        if told is not None:
            ends.append(_chosen(table, told, option))
        elif usual in columns:
            ends.append(usual)
        elif {"source", "target"} & set(columns) or columns[place] in taken:
            other = [name for name in columns if name not in ("source", "target", *taken)]
            raise ValueError(
                f"{table.name}: no column {usual!r}{nearest(usual, other)} name it with {option}; "
                f"columns: {', '.join(columns)}"
            )
        else:
            ends.append(columns[place])
    first, second = ends
    if first == second:
        raise ValueError(
            f"{table.name}: source and target are both column {first!r}; "
            "name the two columns with --source and --target-column"
        )
    return first, second


def check_header(where: str, ends: tuple[str, str], ids: Iterable[object]) -> None:
    """Refuse a table whose two column names are ids: its first line is a pair, not a header."""
    if "source" in ends or "target" in ends:
        return
    if set(ends) <= {str(each) for each in ids}:
        raise ValueError(
            f"{where}: the first line, {','.join(ends)}, is a pair of nodes and no line of column "
            "names; add one, such as source,target"
        )


def _value(scores: Input, reading: Reading) -> tuple[str, bool]:
    if reading.score is not None and reading.logit is not None:
        raise ValueError("give either --score or --logit, got both")
    if reading.score is not None:
        return _chosen(scores, reading.score, "--score"), False
    if reading.logit is not None:
        return _chosen(scores, reading.logit, "--logit"), True
    found = [name for name in ("score", "logit") if name in scores.columns]
    if len(found) == 2:
        raise ValueError(
            f"{scores.name}: has both columns 'score' and 'logit'; "
            "choose one with --score score or --logit logit"
        )
    if not found:
        hint = nearest("score", scores.columns)
        raise ValueError(
            f"{scores.name}: no column 'score' or 'logit'{hint} name it with --score or --logit; "
            f"columns: {', '.join(scores.columns)}"
        )
    return found[0], found[0] == "logit"


def _chosen(table: Input, name: str, option: str) -> str:
    if name not in table.columns:
        raise ValueError(
            f"{table.name}: no column {name!r} ({option}){nearest(name, table.columns)} "
            f"columns: {', '.join(table.columns)}"
        )
    return name


def listed(sensitive: str | Sequence[str]) -> tuple[str, ...]:
    """Names from ``"a,b"`` or a list.

    >>> listed("gender, age")
    ('gender', 'age')
    """
    names = sensitive.split(",") if isinstance(sensitive, str) else sensitive
    found = tuple(name.strip() for name in names)
    if not found or not all(found):
        problem = "must name the column that makes the groups"
        raise InputError(problem, "such as {sensitive=gender}", argument="sensitive")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        problem = f"must name a column once, got {twice!r} twice"
        raise InputError(problem, argument="sensitive")
    return found
