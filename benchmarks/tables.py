"""Time and memory of ``linkparity audit`` and ``project`` on a large table, and in memory.

    python benchmarks/tables.py --rows 10000000
    python benchmarks/tables.py --rows 20000000 --nodes 10000000 --audit
    python benchmarks/tables.py --rows 1e6,1e7,1e8 --before OTHER/bin/python
    python benchmarks/tables.py --train 9

Each command runs in a process of its own: wall time with start-up, peak resident memory, scans
over the rows; with intervals that treat pairs as independent, and with those that allow for pairs
that share nodes, or one of both (``--intervals nodes``). Beside it the same numbers from arrays in
memory (skipped above 2·10⁷ rows), and how far apart the results are. ``--rows 1000000,10000000``
shows that time is linear in rows.
``--before`` runs the version of another environment beside it, and prints ratios of seconds of
processor and of memory. ``--csv`` takes CSV files in place of Parquet. ``--engine spark`` runs
Spark beside DuckDB. ``--audit`` runs one audit with intervals that allow for shared nodes, and
nothing else. ``--train`` trains on polblogs by name and from two CSV files in turn, so many times
each.
"""

import argparse
import csv
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import torch

import linkparity as lp

IN_MEMORY = 20_000_000


def make(
    place: Path, rows: int, nodes: int, groups: int, kind: str = "parquet"
) -> tuple[Path, Path]:
    """Distinct pairs of text ids with scores that differ by group pair, labels by score."""
    scores, people = place / f"scores.{kind}", place / "people.csv"
    con = duckdb.connect()
    con.execute("SET memory_limit = '1GB'")
    con.execute("SET preserve_insertion_order = false")
    steps = -(-rows // nodes)
    assert steps < nodes / 2, "more rows than pairs; give more nodes"
    con.execute(f"""
        COPY (
            SELECT printf('p%08d', a) AS source, printf('p%08d', b) AS target, score,
                   (hash(b, a, 1) % 1000003 < score * 1000003)::TINYINT AS label
            FROM (
                SELECT i % {nodes} AS a, (i % {nodes} + 1 + i // {nodes}) % {nodes} AS b,
                       1 / (1 + exp(-(2.5 * (hash(i) % 1000003 / 1000003.0 - 0.5) - 1
                            + 0.4 * (a % {groups} = b % {groups})::INT
                            - 0.1 * (a % {groups} + b % {groups})))) AS score
                FROM range({rows}) r(i)
            )
        ) TO '{scores}' (FORMAT {kind})
    """)
    con.execute(f"""
        COPY (SELECT printf('p%08d', i) AS node, 'group ' || i % {groups} AS kind
              FROM range({nodes}) r(i)) TO '{people}' (HEADER)
    """)
    return scores, people


Cost = tuple[float, float, float]


def timed(*args: object, python: str = sys.executable) -> tuple[dict, str, Cost]:
    """The command's JSON and what it said; wall and processor seconds, peak gigabytes."""
    begin = time.perf_counter()
    with tempfile.TemporaryFile("w+") as out, tempfile.TemporaryFile("w+") as err:
        child = subprocess.Popen(
            [python, "-m", "linkparity", *map(str, args), "--json"],
            stdout=out, stderr=err, cwd=tempfile.gettempdir(),
        )  # fmt: skip
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds = time.perf_counter() - begin
        out.seek(0)
        err.seek(0)
        told = err.read()
        if child.returncode:
            raise SystemExit(f"{args[0]} failed: {told}")
        busy = usage.ru_utime + usage.ru_stime
        return json.load(out), told, (seconds, busy, usage.ru_maxrss / 1e6)


def run(*args: object, before: str | None = None) -> tuple[dict, str]:
    """The command's JSON; its cost and its scans as text, also before, with the ratio."""
    found, text, cost = cost_of(*args)
    if before is not None:
        _, former, paid = cost_of(*args, python=before)
        ratios = f"{paid[1] / cost[1]:.1f} x processor, {paid[2] / cost[2]:.1f} x memory"
        text += f"\n{'before':>29} {former}: {ratios}"
    return found, text


def cost_of(*args: object, python: str = sys.executable) -> tuple[dict, str, Cost]:
    """The command's JSON; its cost and its scans as text and as numbers."""
    found, told, cost = timed(*args, python=python)
    seconds, busy, memory = cost
    scans = int(re.search(r"(\d+) scans", told)[1])
    text = f"{seconds:6.1f} s ({busy:.1f} s of processor)  {memory:4.2f} GB  {scans} scans"
    return found, text, cost


def compare_training(repeats: int, place: Path) -> None:
    """Training by name and from files in turn: medians, and that the files hold the same graph."""
    graph = lp.load("polblogs")
    parties = [graph.group_names[g] for g in graph.group.tolist()]
    ends = [[graph.names[i] for i in link] for link in graph.links.tolist()]
    links, nodes = place / "links.csv", place / "nodes.csv"
    for path, rows in (
        (links, [("source", "target"), *ends]),
        (nodes, [("node", "party"), *zip(graph.names, parties, strict=True)]),
    ):
        with path.open("w", newline="") as file:
            csv.writer(file).writerows(rows)
    ways = {
        "by name": ("polblogs",),
        "from files": ("--links", links, "--nodes", nodes, "--sensitive", "party"),
    }
    costs, found = {way: [] for way in ways}, {}
    for _ in range(repeats):
        for way, args in ways.items():
            found[way], _, cost = timed("train", *args, "--model", "cne", "--criterion", "dp")
            costs[way].append(cost)
    for way, each in costs.items():
        seconds, busy, _ = np.median(each, axis=0)
        print(f"  train {way:10} {seconds:.2f} s ({busy:.2f} s of processor), {repeats} times")
    print(
        f"  auc {found['by name']['auc']:.6f} by name, {found['from files']['auc']:.6f} from files"
    )


def in_memory(scores: Path, out: Path, audit: dict, number: int) -> str:
    """The same from arrays: seconds of audit and projection, how far the results are apart."""
    table = duckdb.sql(f"""
        SELECT CAST(substr(source, 2) AS INT) % {number} AS a,
               CAST(substr(target, 2) AS INT) % {number} AS b, score, label FROM '{scores}'
    """).fetchnumpy()
    groups = np.stack([table["a"], table["b"]], axis=1)
    begin = time.perf_counter()
    found = lp.score_pairs(
        prob=table["score"], groups=groups, labels=table["label"], confidence=None
    )
    audited = time.perf_counter() - begin
    begin = time.perf_counter()
    x = np.log(table["score"]) - np.log1p(-table["score"])
    fair = lp.i_project(torch.from_numpy(x), groups=torch.from_numpy(groups)).logits.sigmoid()
    projected = time.perf_counter() - begin
    apart = max(abs(found.values[name] - audit[name]) for name in ("auc", "dp", "eo", "rdp", "kl"))
    written = duckdb.sql(f"SELECT fair_score FROM '{out}'").fetchnumpy()["fair_score"]
    return (
        f"  in memory: audit {audited:.1f} s, projection {projected:.1f} s, arrays given\n"
        f"  apart: measures {apart:.1e}, fair scores {np.abs(written - fair.numpy()).max():.1e}"
    )


def beside(engine: str, common: tuple, audit: dict, out: Path, place: Path) -> None:
    """The same audit and projection by another engine, and how far the results are apart.

    Its processor time and memory are those of the driver's Python, without Java and workers.
    """
    other = place / f"other{out.suffix}"
    names = ("auc", "dp", "eo", "rdp", "kl")
    found, told = run("audit", *common, "--engine", engine)
    ends = [
        abs(a - b) for name, pair in audit["intervals"].items()
        for a, b in zip(pair, found["intervals"][name], strict=True)
    ]  # fmt: skip
    values = max(abs(audit[name] - found[name]) for name in names)
    print(f"  audit   --engine {engine} {told}  apart {values:.1e}, intervals {max(ends):.1e}")
    _, told = run("project", *common, "--out", other, "--force", "--engine", engine)
    apart = duckdb.sql(f"""
        SELECT max(abs(a.fair_score - b.fair_score)), sum((a.source <> b.source)::INT)
        FROM '{out}' a POSITIONAL JOIN '{other}' b
    """).fetchone()
    print(f"  project --engine {engine} {told}  fair scores apart {apart[0]:.1e}")
    assert apart[1] == 0, "the order of the rows differs"
    other.unlink()


def compare(rows: int, args: argparse.Namespace, place: Path) -> None:
    shape, groups, engine = "csv" if args.csv else "parquet", args.groups, args.engine
    scores, people = make(place, rows, args.nodes, groups, shape)
    size = scores.stat().st_size / 1e6
    print(f"{rows:,} rows, {args.nodes:,} nodes, {groups} groups, {size:,.0f} MB of {shape}")
    out = place / f"fair.{shape}"
    common = (scores, "--nodes", people, "--sensitive", "kind", "--tmp", place)
    for kind in ("nodes",) if args.audit else args.intervals.split(","):
        audit, told = run("audit", *common, "--intervals", kind, before=args.before)
        ends = " to ".join(f"{end:.6f}" for end in audit["intervals"]["dp"])
        print(f"  audit   --intervals {kind} {told}")
        print(f"          dp {audit['dp']:.6f}, {ends}", flush=True)
        if args.audit:
            return
        output = ("--out", out, "--force", "--intervals", kind)
        found, told = run("project", *common, *output, before=args.before)
        print(f"  project --intervals {kind} {told}")
        print(f"          dp {found['after']['dp']:.1e} after", flush=True)
    if engine != "duckdb":
        beside(engine, common, audit, out, place)
    if rows <= IN_MEMORY:  # in a process of its own, since a child counts its parent's memory
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            print(pool.apply(in_memory, (scores, out, audit, groups)))
    out.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rows", default="10000000", help="one number, or several with commas")
    parser.add_argument("--nodes", type=int, default=100_000)
    parser.add_argument("--groups", type=int, default=4)
    parser.add_argument("--audit", action="store_true", help="one audit alone")
    parser.add_argument("--engine", default="duckdb", help="another engine beside DuckDB")
    parser.add_argument("--intervals", default="pairs,nodes", help="one sort, or both with a comma")
    parser.add_argument("--before", help="Python of an environment with another version")
    parser.add_argument("--csv", action="store_true", help="CSV files, not Parquet")
    parser.add_argument("--train", type=int, metavar="TIMES", help="time training, not tables")
    parser.add_argument("--tmp", help="where the tables go; they take about 50 bytes a row")
    args = parser.parse_args()
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} before the start")
    if args.train:
        with tempfile.TemporaryDirectory(dir=args.tmp) as place:
            compare_training(args.train, Path(place))
        return
    for rows in args.rows.split(","):
        with tempfile.TemporaryDirectory(dir=args.tmp) as place:
            compare(int(float(rows)), args, Path(place))


if __name__ == "__main__":
    main()
