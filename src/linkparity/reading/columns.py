"""How a score table is read: the options, and which column holds what."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches

from linkparity.reading.column_rules import choose_ends, choose_node
from linkparity.reading.duckdb import Input
from linkparity.reading.groups import GraphWarning, UntidyPolicy
from linkparity.support.errors import InputError, warn
from linkparity.support.registry import did_you_mean


@dataclass(frozen=True)
class ReadOptions:
    """How a score table is read; a column that is None has its usual name.

    Attributes:
        sensitive: attributes that make the groups; several are crossed.
        source: column of the first node of a pair.
        target_column: column of the second node of a pair.
        score: column of probabilities.
        logit: column of logits.
        label: column of labels.
        node: column of ids in the table of nodes.
        untidy: what happens to unknown nodes, repeated pairs and self-loops.
        directed: whether (a, b) and (b, a) are two pairs.
        bipartite: whether sources and targets are two kinds of nodes.
        unlabelled: whether a label may be missing.
        weight: column of weights, for dp and kl.
        missing: values of the attributes that mean unknown, such as a code 0.
    """

    sensitive: tuple[str, ...]
    source: str | None = None
    target_column: str | None = None
    score: str | None = None
    logit: str | None = None
    label: str | None = None
    node: str | None = None
    untidy: UntidyPolicy = field(default_factory=UntidyPolicy)
    directed: bool = False
    bipartite: bool = False
    unlabelled: bool = False
    weight: str | None = None
    missing: tuple[str, ...] = ()

    @property
    def attribute(self) -> str:
        """The name of the attribute that makes the groups."""
        return " & ".join(self.sensitive)

    @property
    def ordered(self) -> bool:
        """Whether the two ends of a pair are told apart."""
        return self.directed or self.bipartite

    @property
    def unlisted(self) -> bool:
        """Whether nodes that are not in the table of nodes stay, and are told from each other."""
        return self.untidy.unknown in ("group", "keep")


@dataclass(frozen=True)
class Columns:
    """The columns of a table of pairs and of its table of nodes.

    Attributes:
        source: first node of a pair.
        target: second node of a pair.
        value: the scores; empty for pairs without scores.
        logits: whether they are logits, not probabilities.
        label: the labels, if there are any.
        node: ids in the table of nodes; None without one.
        source_groups: groups of the source, empty when a table of nodes has them.
        target_groups: groups of the target; empty when it has none.
        swapped: whether source and target are exchanged.
        weight: the weights, if there are any.
    """

    source: str
    target: str
    value: str = ""
    logits: bool = True
    label: str | None = None
    node: str | None = None
    source_groups: tuple[str, ...] = ()
    target_groups: tuple[str, ...] = ()
    swapped: bool = False
    weight: str | None = None

    @property
    def exchanged(self) -> "Columns":
        """The same with source and target exchanged, where only targets have groups."""
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
        """All columns that are read in the score table."""
        more = (name for name in (self.label, self.weight) if name is not None)
        ends = (self.source, self.target, self.value)
        return {*ends, *more, *self.source_groups, *self.target_groups}


def pick_columns(scores: Input, nodes: Input | None, options: ReadOptions) -> Columns:
    """Find the columns, or say which one is missing and which name is similar."""
    known = scores.columns
    if len(known) < 3:
        problem = f"needs columns source, target and score (or logit), got {', '.join(known)}"
        raise InputError(problem, where=scores.name)
    named = (options.score, options.logit, options.label, options.weight)
    reserved = (*named, "score", "logit", "label")
    source, target = pick_ends(scores, options.source, options.target_column, reserved)
    value, logits = _pick_value(scores, options)
    label = None if options.label is None else _given(scores, "label", options.label)
    if label is None and "label" in known and value != "label":
        label = "label"
    if label is None:
        _warn_of_label(scores, {source, target, value})
    weight = None if options.weight is None else _given(scores, "weight", options.weight)
    found = Columns(source, target, value, logits, label, weight=weight)
    if nodes is not None:
        return replace(found, node=pick_node_column(nodes, options.sensitive, options.node))
    first, second = (
        tuple(f"{end}_{name}" for name in options.sensitive) for end in ("source", "target")
    )
    if options.bipartite and not set(first) & set(known) and set(second) <= set(known):
        return replace(found, target_groups=second).exchanged
    one_side = not set(second) & set(known)
    for name in first if one_side else (*first, *second):
        if name not in known:
            fix = (
                f"{did_you_mean(name, known)}give the groups in columns {first[0]} and "
                f"{second[0]}, or a table of nodes with {{nodes=}}"
            )
            raise InputError(f"no column {name!r}", fix, where=scores.name)
    return replace(found, source_groups=first, target_groups=() if one_side else second)


def pick_ends(
    table: Input, source: str | None, target: str | None, reserved: Sequence[str | None] = ()
) -> tuple[str, str]:
    """The columns of the two nodes of a pair, as :func:`choose_ends` has them."""
    arguments = ("source", "target_column")
    given = [
        None if name is None else _given(table, argument, name)
        for argument, name in zip(arguments, (source, target), strict=True)
    ]
    first, second = choose_ends(table.columns, given, reserved, arguments, where=table.name)
    if first == second:
        problem = f"source and target are both column {first!r}"
        fix = "name the two columns with {source=} and {target_column=}"
        raise InputError(problem, fix, where=table.name)
    return first, second


def _pick_value(scores: Input, options: ReadOptions) -> tuple[str, bool]:
    """The column of scores, and whether they are logits."""
    if options.score is not None and options.logit is not None:
        fix = "leave out {score=} or {logit=}"
        raise InputError("cannot be combined with a column of logits", fix, argument="score")
    if options.score is not None:
        return _given(scores, "score", options.score), False
    if options.logit is not None:
        return _given(scores, "logit", options.logit), True
    found = [name for name in ("score", "logit") if name in scores.columns]
    if len(found) == 2:
        fix = "choose one with {score=score} or {logit=logit}"
        raise InputError("has both columns 'score' and 'logit'", fix, where=scores.name)
    if not found:
        hint = did_you_mean("score", scores.columns)
        fix = f"{hint}name it with {{score=}} or {{logit=}}; {_listed(scores)}"
        raise InputError("no column 'score' or 'logit'", fix, where=scores.name)
    return found[0], found[0] == "logit"


def _warn_of_label(scores: Input, used: set[str]) -> None:
    """Warn when a column that is not read looks like the labels."""
    other = {str(name).lower(): name for name in scores.columns if name not in used}
    if near := get_close_matches("label", other, n=1, cutoff=0.75):
        name = other[near[0]]
        fix = f"if {name!r} holds the labels, use {{label={name}}}"
        warn(GraphWarning, "no column 'label'", fix, where=scores.name)


def pick_node_column(nodes: Input, sensitive: tuple[str, ...], node: str | None) -> str:
    """The column of ids of a table of nodes, which must have the attributes too."""
    for name in sensitive:
        if name not in nodes.columns:
            fix = f"{did_you_mean(name, nodes.columns)}{_listed(nodes)}"
            raise InputError(f"no column {name!r}", fix, where=nodes.name)
    if node is not None:
        return _given(nodes, "node", node)
    return str(choose_node(nodes.columns, sensitive, where=nodes.name))


def not_listed(nodes: Input, column: str, given: str | None) -> tuple[str, str]:
    """Reason and advice for an id that is not in a table of nodes, for ``unknown_error``."""
    if given is not None or column.lower() == "node":
        return f"is not in {nodes.name}", "write ids alike"
    advice = "write ids alike, or name another column of ids with {node=}"
    return f"is not in {nodes.name}, column {column!r}", advice


def _given(table: Input, argument: str, name: str) -> str:
    if name not in table.columns:
        fix = f"{did_you_mean(name, table.columns)}{_listed(table)}"
        problem = f"{name!r} is not a column"
        raise InputError(problem, fix, where=table.name, argument=argument)
    return name


def _listed(table: Input) -> str:
    return f"columns: {', '.join(table.columns)}"


def listed(sensitive: str | Sequence[str]) -> tuple[str, ...]:
    """Names from ``"a,b"`` or a list.

    >>> listed("gender, age")
    ('gender', 'age')
    """
    names = sensitive.split(",") if isinstance(sensitive, str) else sensitive
    if not all(isinstance(name, str) for name in names):
        raise InputError(f"must name columns, got {sensitive!r:.80}", argument="sensitive")
    found = tuple(name.strip() for name in names)
    if not found or not all(found):
        problem = "must name the column that makes the groups"
        raise InputError(problem, "such as {sensitive=gender}", argument="sensitive")
    if len(set(found)) < len(found):
        twice = next(name for name in found if found.count(name) > 1)
        problem = f"must name a column once, got {twice!r} twice"
        raise InputError(problem, argument="sensitive")
    return found
