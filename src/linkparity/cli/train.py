"""The commands ``train`` and ``predict``: options in, no logic."""

from pathlib import Path
from typing import Annotated, Any

import typer

from linkparity.cli.options import Bipartite, Force, Json, Loops, Node, Source, Target
from linkparity.cli.output import say, show, show_json
from linkparity.support.wording import counted


def add_train_commands(app: typer.Typer) -> None:
    """Put the commands for training and prediction into ``app``."""
    app.command(
        epilog="Example: linkparity train --links links.csv --nodes people.csv --sensitive gender "
        "--criterion dp --out run"
    )(train)
    app.command(epilog="Example: linkparity predict run --pairs pairs.csv --out scores.csv")(
        predict
    )


def train(
    name: Annotated[str | None, typer.Argument(help="A data set; or give --links.")] = None,
    links: Annotated[str | None, typer.Option(help="Table of links: source, target.")] = None,
    nodes: Annotated[str | None, typer.Option(help="Table of nodes with attributes.")] = None,
    sensitive: Annotated[
        str | None, typer.Option(help="Column that makes the groups; A,B crosses two.")
    ] = None,
    model: Annotated[str, typer.Option(help="cne, dot-product, gae or maxent.")] = "cne",
    criterion: Annotated[
        str, typer.Option(help="none, dp, eo, weak-dp, equalized-odds or accuracy.")
    ] = "none",
    gamma: Annotated[float, typer.Option(help="How much parity counts in training.")] = 100.0,
    seed: Annotated[int, typer.Option(help="Of everything random.")] = 0,
    target: Annotated[str, typer.Option(help="model, data, free, or a number.")] = "model",
    tolerance: Annotated[float, typer.Option(help="How far a mean may stay from it.")] = 0.0,
    dimension: Annotated[int | None, typer.Option(help="Of the embedding.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Steps over all training pairs.")] = None,
    lr: Annotated[float | None, typer.Option(help="Step size.")] = None,
    postprocess: Annotated[
        str | None, typer.Option(help="i-projection: tilt the trained model to parity.")
    ] = None,
    test: Annotated[float, typer.Option(help="Share of the links held out for testing.")] = 0.2,
    out: Annotated[Path | None, typer.Option(help="Directory to save the run in.")] = None,
    data: Annotated[Path | None, typer.Option(help="Data directory, for a data set.")] = None,
    source: Source = None,
    target_column: Target = None,
    node: Node = None,
    bipartite: Bipartite = False,
    unknown: Annotated[str, typer.Option(help="Nodes without a group: error, group, drop.")] = (
        "error"
    ),
    duplicates: Annotated[str, typer.Option(help="A link that stands twice: error, first.")] = (
        "error"
    ),
    self_loops: Loops = "error",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Train on a data set or on own files: split, train, evaluate, save."""
    from linkparity.cli.progress import training_progress
    from linkparity.criteria import LABEL_CRITERIA
    from linkparity.experiments import GraphFiles, read_graph, train_run
    from linkparity.models import MODELS
    from linkparity.prediction import LinkPredictor
    from linkparity.prediction.saving import check_place
    from linkparity.report.console_tables import run_tables
    from linkparity.support.registry import Registry
    from linkparity.tables.reading.columns import listed
    from linkparity.tables.run import read_number
    from linkparity.training.distributed import joined_processes

    if (name is None) == (links is None):
        raise ValueError("train: give either the NAME of a data set, or --links")
    about_files = {
        "--nodes": nodes, "--sensitive": sensitive, "--source": source, "--node": node,
        "--target-column": target_column, "--bipartite": bipartite,
        "--unknown": unknown != "error", "--duplicates": duplicates != "error",
        "--self-loops": self_loops != "error",
    }  # fmt: skip
    for option, given in ({"--data": data} if links else about_files).items():
        if given:
            other = "the NAME of a data set" if links else "--links"
            raise ValueError(f"train: {option} goes with {other}; leave it out")
    Registry("criterion", {"none": None, **LABEL_CRITERIA})[criterion]  # a wrong name is told first
    if criterion == "none":
        for option, moot in (("--target", target != "model"), ("--tolerance", tolerance)):
            if moot:
                raise ValueError(f"train: {option} goes with --criterion; leave it out, or add one")
    if out is not None:
        check_place(out, replace=force)
    if links is None:
        from linkparity.datasets import load

        graph = load(str(name), data)
    else:
        if nodes is None or sensitive is None:
            raise ValueError("train: --links needs --nodes and --sensitive, which make the groups")
        own: dict[str, Any] = {"unknown": unknown, "duplicates": duplicates}
        graph = read_graph(
            GraphFiles(
                links, nodes, listed(sensitive), source, target_column, node, bipartite,
                self_loops=self_loops, **own,  # type: ignore[arg-type]
            )
        )  # fmt: skip
    predictor = LinkPredictor(
        model, None if criterion == "none" else criterion, gamma, seed, read_number(target),
        tolerance, dimension, epochs, lr, postprocess=postprocess,
    )  # fmt: skip
    planned = MODELS[model].epochs if epochs is None else epochs
    told = f"{name or links}, {model}, {criterion}"
    with joined_processes() as team:
        first = team.rank == 0
        with training_progress(told, planned, silent=not first) as tell:
            run = train_run(
                graph, predictor, out if first else None, dataset=name, replace=force, test=test,
                tell=tell,
            )  # fmt: skip
    if not first:
        return
    if out is not None:
        say(f"run: {out}")
    show_json(run.to_dict()) if as_json else show(*run_tables(run))


def predict(
    run: Annotated[str, typer.Argument(help="Directory that train --out made.")],
    out: Annotated[str, typer.Option(help="Table of scores; - for stdout.")],
    pairs: Annotated[str | None, typer.Option(help="Table of pairs to score.")] = None,
    top: Annotated[int | None, typer.Option(help="Likeliest new partners per node.")] = None,
    for_: Annotated[
        str | None, typer.Option("--for", help="Only for these: ids with commas, or a file.")
    ] = None,
    source: Source = None,
    target_column: Target = None,
    unknown: Annotated[str, typer.Option(help="A node not trained on: error or drop.")] = "error",
    self_loops: Loops = "error",
    force: Force = False,
    as_json: Json = False,
) -> None:
    """Score the pairs of a file, or list the likeliest new partners of each node."""
    from linkparity.experiments.predict import PairsFile, listed_nodes, predict_pairs, predict_top

    if (pairs is None) == (top is None):
        raise ValueError("predict: give either --pairs, or --top")
    if pairs is not None and for_ is not None:
        raise ValueError("predict: --for goes with --top; --pairs names its nodes itself")
    if as_json and out == "-":
        raise ValueError("predict: --json and --out - both want stdout; give --out a file")
    if pairs is not None:
        given = PairsFile(pairs, source, target_column, unknown, self_loops)  # type: ignore[arg-type]
        rows = predict_pairs(run, given, out, force)
    else:
        assert top is not None
        rows = predict_top(run, top, listed_nodes(for_), out, force, inputs=(for_,))
    if out == "-":
        return
    show_json({"run": run, "out": out, "rows": rows}) if as_json else show(
        f"{counted(rows, 'row')}: {out}"
    )
