"""Options of the commands, declared once: their help texts, and their choices."""

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from functools import wraps
from itertools import chain
from typing import TYPE_CHECKING, Annotated, Any

import typer

from linkparity.experiments.model_defaults import DEFAULTS
from linkparity.support.errors import InputError, require_extra
from linkparity.support.registry import Registry

if TYPE_CHECKING:
    from linkparity.graph.graph import Graph
    from linkparity.reading.tables import FileTables

#: Names of the registries, repeated because ``--help`` must not import them; a test compares them.
MODELS = tuple(DEFAULTS)
CRITERIA = ("dp", "eo", "weak-dp", "equalized-odds", "accuracy")
ALIASES = {"demographic-parity": "dp", "equal-opportunity": "eo"}

#: What parity may be about: pairs that are no training link, all pairs, the authors' sample.
PAIRS = ("candidates", "all", "sampled")
TILT_BY = ("groups", "labels")
#: Arguments that name files and directories, whose names need not be text; others must be UTF-8.
FILES = frozenset({
    "apply", "compare", "data", "experiment", "figures", "for_", "html", "links", "nodes", "out",
    "pairs", "rows", "run", "save_test", "save_tilts", "scores", "tmp",
})  # fmt: skip


def choice(
    names: Sequence[str],
    text: str,
    flag: str = "",
    kind: str = "",
    aliases: Mapping[str, str] | None = None,
) -> Any:
    """An option that takes one of ``names``, which ``--help`` lists.

    Args:
        names: the choices.
        text: help text.
        flag: the option, where it is not the parameter's name.
        kind: what an unknown name is called in the error; without it, the error names the option.
        aliases: other names of choices.
    """

    def check(param: typer.CallbackParam, value: str | None) -> str | None:
        value = (aliases or {}).get(str(value), value)
        if value is not None and value not in names:
            if kind:
                Registry(kind, dict.fromkeys(names))[value]
            from linkparity.reading.groups import check_choice

            check_choice(str(param.name), value, choices=names)
        return value

    flags = (flag,) if flag else ()
    return typer.Option(*flags, help=text, metavar=f"[{'|'.join(names)}]", callback=check)


def criterion(text: str, *more: str) -> Any:
    """An option that takes the name of a criterion, or one of ``more``."""
    return choice((*more, *CRITERIA), text, kind="criterion", aliases=ALIASES)


Json = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")]
Force = Annotated[bool, typer.Option("--force", help="Overwrite existing outputs.")]
Data = Annotated[
    str | None,
    typer.Option(help="Data directory; else $LINKPARITY_DATA, else the user's cache directory."),
]
SENSITIVE = typer.Option(help="Column of the sensitive attribute; A,B crosses two columns.")
Nodes = Annotated[str | None, typer.Option(help="Table of nodes with their attributes.")]
Source = Annotated[str | None, typer.Option(help="Column of the first node of a pair.")]
TargetColumn = Annotated[str | None, typer.Option(help="Column of the second node of a pair.")]
Node = Annotated[str | None, typer.Option(help="Column of ids in --nodes.")]
Unknown = Annotated[str, choice(("error", "group", "drop", "keep"), "Nodes without a known group.")]
Missing = Annotated[
    str, typer.Option(help="Values of --sensitive that mean unknown, with commas, such as 0,n/a.")
]
Duplicates = Annotated[str, choice(("error", "first"), "Pairs that occur more than once.")]
SelfLoops = Annotated[str, choice(("error", "drop"), "Pairs of a node with itself.")]
FileFormat = Annotated[
    str | None,
    choice(("csv", "tsv", "parquet"), "Format of - and of unknown extensions.", kind="format"),
]
Separator = Annotated[
    str | None, typer.Option(help="Character between the columns of text files: ; | tab, space.")
]
MinPairs = Annotated[
    int, typer.Option(help="Pairs that a pair of groups needs to count in dp; links, in eo.")
]
Bipartite = Annotated[
    bool, typer.Option("--bipartite", help="Sources and targets are two kinds of nodes.")
]
Measures = Annotated[
    str | None, typer.Option(help="Measures to take, such as auc,dp; all by default.")
]
Refit = Annotated[
    bool, typer.Option("--refit", help="Fit again on all links after the evaluation.")
]
SaveTest = Annotated[
    str | None, typer.Option(help="Write the measured pairs to this table, for audit --weight.")
]
Target = Annotated[
    str, typer.Option(help="Common mean of all pairs of groups: model, data, free, or a number.")
]
Tolerance = Annotated[
    float, typer.Option(help="Allowed distance of a group pair's mean from --target.")
]
Confidence = Annotated[float, typer.Option(help="Confidence level of the intervals.")]
Intervals = Annotated[
    str,
    choice(
        ("nodes", "pairs"),
        "Intervals that allow for pairs that share nodes, or treat pairs as independent.",
        kind="kind of intervals",
    ),
]


def attributes(sensitive: Sequence[str]) -> tuple[str, ...]:
    """The columns that ``--sensitive`` names; it can be given once."""
    from linkparity.reading.columns import listed

    columns = listed(",".join(sensitive))
    if len(sensitive) > 1:
        fix = f"cross the columns with {{sensitive={','.join(columns)}}}"
        raise InputError(f"is given {len(sensitive)} times", fix, argument="sensitive")
    return columns


@dataclass(frozen=True)
class TableOptions:
    """Which score table is read, and how: the options that ``audit`` and ``project`` share."""

    scores: Annotated[
        str, typer.Argument(help="Table of scores: csv, csv.gz, tsv, tsv.gz, parquet, or - .")
    ]
    sensitive: Annotated[list[str], SENSITIVE]
    nodes: Nodes = None
    source: Source = None
    target_column: TargetColumn = None
    score: Annotated[str | None, typer.Option(help="Column of scores (probabilities).")] = None
    logit: Annotated[str | None, typer.Option(help="Column of logits, instead of --score.")] = None
    label: Annotated[str | None, typer.Option(help="Column of labels; 1 is a link.")] = None
    weight: Annotated[
        str | None, typer.Option(help="Column of weights of the pairs, for dp and kl.")
    ] = None
    node: Node = None
    unknown: Unknown = "error"
    duplicates: Duplicates = "error"
    self_loops: SelfLoops = "error"
    directed: Annotated[
        bool, typer.Option("--directed", help="(a, b) and (b, a) are two pairs.")
    ] = False
    bipartite: Bipartite = False
    engine: Annotated[
        str, typer.Option(help="duckdb, spark, or a Spark master such as spark://host:7077.")
    ] = "duckdb"
    tmp: Annotated[str | None, typer.Option(help="Directory for temporary files.")] = None
    missing: Missing = ""
    min_pairs: MinPairs = 0
    format: FileFormat = None
    separator: Separator = None

    def tables(self, out: str | None = None, compare: str | None = None) -> "FileTables":
        """The files and how they are read; ``--format`` is that of ``out`` if that is stdout."""
        from linkparity.reading.columns import ReadOptions, listed
        from linkparity.reading.groups import UntidyPolicy
        from linkparity.reading.tables import FileTables

        options = ReadOptions(
            attributes(self.sensitive), self.source, self.target_column, self.score, self.logit,
            self.label, self.node,
            UntidyPolicy(self.unknown, self.duplicates, self.self_loops),  # type: ignore[arg-type]
            self.directed, self.bipartite, weight=self.weight,
            missing=listed(self.missing) if self.missing else (),
        )  # fmt: skip
        given = self.format if out != "-" else None
        files = (self.scores, self.nodes)
        return FileTables(
            *files, options, self.engine, self.tmp, given, out, self.format, self.separator, compare
        )


@dataclass(frozen=True)
class GraphOptions:
    """Which graph is read: a data set by name, or the user's files and how they are read."""

    name: Annotated[str | None, typer.Argument(help="Name of a data set; or give --links.")] = None
    links: Annotated[str | None, typer.Option(help="Table of links: source, target.")] = None
    nodes: Nodes = None
    sensitive: Annotated[list[str] | None, SENSITIVE] = None
    source: Source = None
    target_column: TargetColumn = None
    node: Node = None
    bipartite: Bipartite = False
    unknown: Unknown = "error"
    duplicates: Duplicates = "error"
    self_loops: SelfLoops = "error"
    missing: Missing = ""
    format: FileFormat = None
    separator: Separator = None
    data: Data = None

    def check(self) -> None:
        """Refuse options that exclude each other."""
        if (self.name is None) == (self.links is None):
            raise InputError("give either the NAME of a data set, or --links")
        by_name = self.name is not None
        for each in fields(self):
            fits = (each.name in ("name", "data")) == by_name
            if not fits and getattr(self, each.name) != each.default:
                other = "--links" if by_name else "the NAME of a data set"
                raise InputError(f"goes with {other}", "leave it out", argument=each.name)
        if self.links is not None and not (self.nodes and any(self.sensitive or ())):
            raise InputError("--links needs --nodes and --sensitive, which make the groups")

    def graph(self, on_stage: Callable[[str], object] = lambda stage: None) -> "Graph":
        """Load the data set, or read the files; ``on_stage`` is called with what is read."""
        if self.name is not None:
            from linkparity.datasets import load

            return load(self.name, self.data)
        from linkparity.experiments.graph_files import GraphFiles, read_graph
        from linkparity.reading.columns import listed
        from linkparity.reading.groups import UntidyPolicy

        on_stage(f"reading {self.links} and {self.nodes}")
        policy = UntidyPolicy(self.unknown, self.duplicates, self.self_loops)  # type: ignore[arg-type]
        sensitive = attributes(self.sensitive or ())
        columns = (self.source, self.target_column, self.node)
        return read_graph(
            GraphFiles(
                str(self.links),
                str(self.nodes),
                sensitive,
                *columns,
                self.bipartite,
                policy,
                listed(self.missing) if self.missing else (),
                self.format,
                self.separator,
            )
        )


@dataclass(frozen=True)
class FitOptions:
    """How a model is trained: the options that ``train`` and ``tune`` share."""

    pairs: Annotated[
        str | None,
        choice(
            PAIRS,
            "Pairs that parity is about: those that are no training link, all, or the paper's "
            "training pairs; candidates by default, all for maxent.",
        ),
    ] = None
    seed: Annotated[int, typer.Option(help="Random seed.")] = 0
    dimension: Annotated[int | None, typer.Option(help="Embedding dimension.")] = None
    epochs: Annotated[int | None, typer.Option(help="Number of training epochs.")] = None
    lr: Annotated[float | None, typer.Option(help="Learning rate.")] = None
    negatives: Annotated[
        int | None, typer.Option(help="Random partners per node among the training pairs.")
    ] = None
    patience: Annotated[
        int | None, typer.Option(help="Stop after so many epochs without a lower loss.")
    ] = None
    strength: Annotated[
        float | None, typer.Option(help="Strength of a method that has one; 0 is its plain form.")
    ] = None
    options: Annotated[
        list[str] | None,
        typer.Option(help="Further option of the model, such as hidden=32; repeatable."),
    ] = None

    def parameters(self) -> dict[str, Any]:
        """Those of a predictor that are given."""
        names = (
            "pairs", "seed", "dimension", "epochs", "lr", "negatives", "patience", "strength",
        )  # fmt: skip
        given = {name: getattr(self, name) for name in names}
        given["options"] = model_options(self.options or ()) or None
        return {name: value for name, value in given.items() if value is not None}


def model_options(texts: Sequence[str]) -> dict[str, object]:
    """Options of a model as typed.

    >>> model_options(["hidden=32", "s1=0.5", "sides=false"])
    {'hidden': 32, 's1': 0.5, 'sides': False}
    """
    found: dict[str, object] = {}
    for text in texts:
        name, equals, value = text.partition("=")
        if not name or not equals:
            problem = f"must be a name and a value, got {text!r}"
            raise InputError(problem, "such as hidden=32", argument="options")
        found[name] = _plain_value(value)
    return found


def _plain_value(text: str) -> object:
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if text[:1] in ("{", "["):
        with suppress(ValueError):
            return json.loads(text)
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def read_target(text: str) -> object:
    """A target as typed: a name, a number, or two with a comma.

    >>> read_target("0.1,0.6")
    [0.1, 0.6]
    """
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return numbers if len(numbers) > 1 else numbers[0]


def needing(extras: str, command: Callable[..., None]) -> Callable[..., None]:
    """Have a command refuse to begin where a package of the first of its extras is missing."""

    @wraps(command)
    def call(**values: Any) -> None:
        require_extra(extras, command.__name__)
        command(**values)

    return call


def text_only(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command refuse values of its options that are not UTF-8, except names of files."""

    @wraps(command)
    def call(**values: Any) -> None:
        for name, value in values.items():
            for each in value if isinstance(value, list) else [value]:
                if name not in FILES and isinstance(each, str) and not _is_utf8(each):
                    problem = f"must be UTF-8 text, got {each!r:.60}"
                    raise InputError(problem, "type it in a UTF-8 locale", argument=name)
        command(**values)

    return call


def _is_utf8(text: str) -> bool:
    """Whether text holds no byte that could not be decoded, which Python keeps as a surrogate."""
    return not any("\ud800" <= character <= "\udfff" for character in text)


def unfolded(command: Callable[..., None]) -> Callable[..., None]:
    """Have a command whose first parameters are dataclasses of options take their fields instead.

    Typer reads the options of a command from its signature, so the fields are put into it.
    """
    parameters = list(inspect.signature(command).parameters.values())
    kinds: list[Any] = [each.annotation for each in parameters if is_dataclass(each.annotation)]
    shared = [list(inspect.signature(kind).parameters.values()) for kind in kinds]

    @wraps(command)
    def call(**values: Any) -> None:
        given = [
            kind(**{each.name: values.pop(each.name) for each in options})
            for kind, options in zip(kinds, shared, strict=True)
        ]
        command(*given, **values)

    every = (*chain(*shared), *parameters[len(kinds) :])
    both = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in every]
    call.__signature__ = inspect.Signature(both)  # type: ignore[attr-defined]
    return call
