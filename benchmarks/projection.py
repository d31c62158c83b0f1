"""How fast and how exact the I-projection is, beside other ways to the same number, in one run.

    python benchmarks/projection.py [--pairs 1e4 1e5 1e6 1e7] [--json FILE] [--huge]

Peers: (a) torch L-BFGS with strong Wolfe on the dual, as the paper did, warm-started; (b) fairret's
KLProjectionLoss at its defaults and run to convergence; (c) cvxpy with Clarabel on the primal; (d)
the floor, one torch.sigmoid over the same logits. "Warm": the logits moved by N(0, 0.01) since the
last call. Times are medians in milliseconds, ratios are to the floor.
"""

import argparse
import gc
import json
import resource
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from torch import Tensor

import linkparity as lp

#: Larger problems take fairret and cvxpy minutes.
PEERS_UP_TO = 10_000
LBFGS_UP_TO = 1_000_000
#: What the projection is to reach at 10⁶ pairs, as multiples of the floor, by number of cells.
REACH = {
    3: {"cold": 14, "warm": 14, "forward + backward": 18, "warm, any order": 80},
    28: {"cold": 26, "warm": 28, "forward + backward": 34, "warm, any order": 80},
}


def problem(pairs: int, groups: int, ordered: bool) -> tuple[Tensor, Tensor]:
    """Logits as of a sparse graph with homophily, and the groups of each pair."""
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(0, groups, (pairs, 2), generator=generator)
    if ordered:
        group = group[torch.argsort(lp.Cells.prepare(group).cell)]
    logits = torch.randn(pairs, generator=generator) * 2 - 3
    logits += (group[:, 0] == group[:, 1]) + 0.1 * group.sum(dim=1)
    return logits, group


def median_ms(call: Callable[[], object], seconds: float = 1.0, most: int = 50) -> float:
    """Median time of a call in milliseconds, after one to warm up."""
    call()
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or (time.perf_counter() < end and len(times) < most):
        begin = time.perf_counter()
        call()
        times.append(time.perf_counter() - begin)
        if times[0] > 20:
            break
    return 1000 * float(np.median(times))


class Drift:
    """Logits that move a little before every call; the noise is not part of what is timed."""

    def __init__(self, logits: Tensor) -> None:
        self.versions = [logits]
        generator = torch.Generator().manual_seed(1)
        for _ in range(4):
            noise = 0.01 * torch.randn(len(logits), generator=generator)
            self.versions.append(self.versions[-1] + noise)
        self.turn = 0

    def next(self) -> Tensor:
        """The next version, back and forth: neighbours differ by one N(0, 0.01)."""
        self.turn += 1
        place = self.turn % (2 * len(self.versions) - 2)
        return self.versions[min(place, 2 * len(self.versions) - 2 - place)]


def ours(logits: Tensor, group: Tensor, seconds: float) -> dict[str, float]:
    """Cold and warm solve, and the regularizer's forward and backward pass."""
    cells = lp.Cells.prepare(group)
    drift = Drift(logits)
    tilt = lp.i_project(logits, cells=cells).tilt

    def warm() -> None:
        nonlocal tilt
        tilt = lp.i_project(drift.next(), cells=cells, start=tilt).tilt

    regularizer = lp.FairnessRegularizer("dp")

    def both() -> None:
        x = drift.next().requires_grad_()
        x.grad = None
        regularizer(x, cells=cells).backward()
        x.requires_grad_(False)

    return {
        "cold": median_ms(lambda: lp.i_project(logits, cells=cells), seconds),
        "warm": median_ms(warm, seconds),
        "forward + backward": median_ms(both, seconds),
    }


def lbfgs(logits: Tensor, group: Tensor, **options: float) -> tuple[float, float]:
    """The paper's way: warm-started L-BFGS on the dual. Milliseconds, and error of the means."""
    cells = lp.Cells.prepare(group)
    cell, mass = cells.cell, torch.as_tensor(cells.mass, dtype=logits.dtype)
    tilt = torch.zeros(len(mass), dtype=logits.dtype, requires_grad=True)
    drift = Drift(logits)

    def solve() -> Tensor:
        x = drift.next()
        target = torch.sigmoid(x).mean()
        optimizer = torch.optim.LBFGS(
            [tilt], max_iter=100, line_search_fn="strong_wolfe", **options
        )

        def closure() -> Tensor:
            optimizer.zero_grad()
            softplus = torch.nn.functional.softplus
            log_partition = (softplus(x + tilt[cell]) - softplus(x)).sum()
            loss = log_partition - (tilt * target * mass).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        return x

    milliseconds = median_ms(solve, seconds=0.5, most=5)
    x = solve()
    tilted = torch.sigmoid(x + tilt.detach()[cell]).double()
    means = torch.zeros(len(mass)).double().index_add_(0, cell, tilted) / mass
    return milliseconds, float((means - torch.sigmoid(x).double().mean()).abs().max())


def fairret(logits: Tensor, group: Tensor, **options: object) -> tuple[float, float]:
    """Milliseconds, and error of the mean KL-divergence."""
    from fairret.loss import KLProjectionLoss
    from fairret.statistic import PositiveRate

    cells = lp.Cells.prepare(group)
    sens = torch.nn.functional.one_hot(cells.cell).float()
    exact = lp.i_project(logits.double(), cells=cells).kl.item() / len(logits)
    loss = KLProjectionLoss(PositiveRate(), **options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        milliseconds = median_ms(lambda: loss(logits[:, None], sens), seconds=1.0, most=3)
        return milliseconds, abs(loss(logits[:, None], sens).item() - exact)


def clarabel(logits: Tensor, group: Tensor) -> tuple[float, float]:
    """Milliseconds, and difference of the mean KL-divergence."""
    import cvxpy as cp

    cells = lp.Cells.prepare(group)
    x = logits.double().numpy()
    target = float(torch.sigmoid(logits.double()).mean())
    member = np.zeros((len(cells.mass), len(x)))
    member[cells.cell.numpy(), np.arange(len(x))] = 1

    def solve() -> float:
        p = cp.Variable(len(x))
        cost = np.logaddexp(0, x).sum() - cp.sum(cp.entr(p) + cp.entr(1 - p) + cp.multiply(x, p))
        constraints = [member @ p == target * cells.mass]
        program = cp.Problem(cp.Minimize(cost), constraints)
        return float(program.solve(solver=cp.CLARABEL))

    exact = lp.i_project(torch.from_numpy(x), cells=cells).kl.item()
    milliseconds = median_ms(solve, seconds=0.1, most=3)
    return milliseconds, abs(solve() - exact) / len(x)


def measure(pairs: int, groups: int, seconds: float) -> list[dict[str, object]]:
    """All rows for one size."""
    logits, group = problem(pairs, groups, ordered=True)
    floor = median_ms(lambda: torch.sigmoid(logits), seconds)
    count = groups * (groups + 1) // 2
    rows: list[dict[str, object]] = []

    def row(way: str, milliseconds: float, error: float | None = None) -> None:
        rows.append(
            {
                "pairs": pairs,
                "cells": count,
                "way": way,
                "ms": milliseconds,
                "times_floor": milliseconds / floor,
                "error": error,
            }
        )

    row("floor: one sigmoid", floor)
    exact = lp.i_project(logits.double(), group)
    found = lp.i_project(logits, group)
    error = abs(found.kl.item() - exact.kl.item()) / pairs
    times = ours(logits, group, seconds)
    for way, milliseconds in times.items():
        row(way, milliseconds, error if way == "cold" else None)
    any_logits, any_group = problem(pairs, groups, ordered=False)
    row("warm, any order", ours(any_logits, any_group, seconds)["warm"])
    if pairs <= LBFGS_UP_TO:
        row("(a) L-BFGS, warm, defaults", *lbfgs(logits, group))
        # float64, as float32 cannot reach the accuracy that ours has in either
        tight = {"tolerance_grad": 1e-7 * pairs / 28, "tolerance_change": 0.0}
        row("(a) L-BFGS, warm, to 1e-7", *lbfgs(logits.double(), group, **tight))
    if pairs <= PEERS_UP_TO:
        row("(b) fairret, defaults", *fairret(logits, group))
        long = {"force_proj_normalized": False, "max_iters": 2000}
        row("(b) fairret, 2000 iterations", *fairret(logits, group, **long))
        row("(c) cvxpy, Clarabel", *clarabel(logits, group))
    for r in rows:
        if str(r["way"]).startswith("("):
            r["times_slower_than_warm"] = r["ms"] / times["warm"]
    return rows


def huge(pairs: int = 100_000_000) -> dict[str, float]:
    """Seconds and memory for cells and projection of 10⁸ pairs, beyond the inputs."""
    generator = torch.Generator().manual_seed(0)
    group = torch.randint(0, 7, (pairs, 2), generator=generator, dtype=torch.int8)
    logits = torch.randn(pairs, generator=generator)
    gc.collect()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begin = time.perf_counter()
    p = lp.i_project(logits, group)
    p.logits  # noqa: B018 - the corrected logits are part of the result
    seconds = time.perf_counter() - begin
    extra = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    return {
        "pairs": pairs,
        "seconds": seconds,
        "times_logits_memory": extra / (4 * pairs),
        "residual": p.residual,
    }


def show(rows: list[dict[str, object]]) -> None:
    """The table on stdout."""
    table = Table(title=f"I-projection, float32, {torch.get_num_threads()} threads")
    for name in ("pairs", "cells", "way", "ms", "× floor", "to reach", "× warm", "error"):
        table.add_column(name, justify="left" if name == "way" else "right")
    for r in rows:
        reach = REACH.get(int(str(r["cells"])), {}).get(str(r["way"]))
        slower = r.get("times_slower_than_warm")
        table.add_row(
            f"{r['pairs']:.0e}",
            str(r["cells"]),
            str(r["way"]),
            f"{r['ms']:.3g}",
            f"{r['times_floor']:.3g}",
            f"≤ {reach}" if reach and r["pairs"] == 1_000_000 else "",
            f"{slower:.0f}" if slower else "",
            "" if r["error"] is None else f"{r['error']:.0e}",
        )
    Console(width=110 if not sys.stdout.isatty() else None).print(table)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", nargs="+", type=float, default=[1e4, 1e5, 1e6, 1e7])
    parser.add_argument("--groups", nargs="+", type=int, default=[2, 7])
    parser.add_argument("--seconds", type=float, default=1.0, help="time spent per figure")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--json", type=Path, help="write all rows to this file")
    parser.add_argument("--huge", action="store_true", help="10⁸ pairs instead, with memory")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.huge:
        print(json.dumps(huge()))
        return
    rows: list[dict[str, object]] = []
    for pairs in options.pairs:
        for groups in options.groups:
            print(f"{pairs:.0e} pairs, {groups} groups …", file=sys.stderr)
            rows += measure(int(pairs), groups, options.seconds)
    show(rows)
    if options.json:
        options.json.parent.mkdir(parents=True, exist_ok=True)
        options.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
