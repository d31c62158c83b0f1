"""The regularizer in a training loop, in passes of a float32 sigmoid over the pairs, one thread.

    python benchmarks/regularizer_loop.py [--pairs 1000000] [--large]

Groups are ``(P, 2)`` in random order. ``raw``: the projection from fresh groups; ``+ backward``:
the regularizer with its gradient, from fresh groups; ``again``: the same from the tensor of groups
of the last step; ``prepared``: the regularizer from prepared cells, and with its gradient. The
logits move a little from step to step, as in training.
``--large`` adds one projection of 10⁸ pairs, in seconds.
"""

import argparse
import time
from collections.abc import Callable

import torch

import linkparity as lp

WANTED = {"raw": 45, "+ backward": 55, "again": 22, "prepared": 15}
REPEATS = 12


def least(step: Callable[[], object], before: Callable[[], object] = lambda: None) -> float:
    """Seconds of the fastest of several steps; ``before`` each is not timed.

    On one thread that is its processor time, which others on the machine disturb less.
    """
    clock = time.thread_time if torch.get_num_threads() == 1 else time.perf_counter
    best = float("inf")
    for _ in range(REPEATS):
        before()
        began = clock()
        step()
        best = min(best, clock() - began)
    return best


def measure(pairs: int, size: int, dtype: torch.dtype) -> dict[str, float]:
    """Seconds of each way."""
    generator = torch.Generator().manual_seed(0)
    given = torch.randint(size, (pairs, 2), generator=generator).to(dtype)
    start = torch.randn(pairs, generator=generator) - 2 + 0.3 * given.sum(dim=1)
    x, groups = start.clone().requires_grad_(), given
    regularizer = lp.FairnessRegularizer("dp")
    cells = lp.Cells.prepare(given)

    def move() -> None:
        with torch.no_grad():
            x.copy_(start).add_(torch.randn(pairs, generator=generator), alpha=1e-3)
        x.grad = None

    def fresh() -> None:
        nonlocal groups
        move()
        groups = given.clone()

    return {
        "raw": least(lambda: lp.i_project(x.detach(), groups=groups), fresh),
        "+ backward": least(lambda: regularizer(x, groups).backward(), fresh),
        "again": least(lambda: regularizer(x, groups).backward(), move),
        "prepared": least(lambda: regularizer(x.detach(), cells=cells), move),
        "p. + backward": least(lambda: regularizer(x, cells=cells).backward(), move),
    }


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--large", action="store_true")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    x = torch.randn(options.pairs)
    out = torch.empty_like(x)
    floor = least(lambda: torch.sigmoid(x, out=out))
    names = [*WANTED, "p. + backward"]
    print(f"one pass: {1e3 * floor:.3f} ms at {options.pairs:,} pairs; {options.threads} threads")
    print(f"{'':12}" + "".join(f"{name:>14}" for name in names))
    print(f"{'wanted':12}" + "".join(f"{WANTED.get(name, ''):>14}" for name in names))
    for size in (2, 7):
        for dtype in (torch.int64, torch.int32, torch.int8, *[torch.bool] * (size == 2)):
            found = measure(options.pairs, size, dtype)
            kind = str(dtype).removeprefix("torch.")
            print(f"{size} {kind:10}" + "".join(f"{found[n] / floor:14.1f}" for n in names))
    if options.large:
        groups = torch.randint(2, (10**8, 2), dtype=torch.int8)
        x = torch.randn(10**8)
        began = time.perf_counter()
        lp.i_project(x, groups=groups)
        print(f"10⁸ pairs, 2 groups, int8: {time.perf_counter() - began:.1f} s")


if __name__ == "__main__":
    main()
