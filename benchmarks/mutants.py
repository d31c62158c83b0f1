"""Mutation test: change the source in one place and see whether the tests that should see it do.

A seeded sample of mutations is drawn from the modules of ``TESTS``, which says what tests each is
held by. Every mutant is a process forked from one that has imported the heavy packages; it compiles
the changed module in memory, so that no file is written, and stops at the first failure. A mutant
that its tests let pass has survived, and a hang counts as killed.

    make mutants                          # the sample that CONTRIBUTING reports
    make mutants ARGS="--only metrics/kl.py --sample 40"
    make mutants ARGS="--again survivors.txt"  # those that an earlier run printed
"""

import argparse
import ast
import contextlib
import importlib
import multiprocessing
import os
import random
import resource
import signal
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "linkparity"
LOGS = ROOT / "out" / "mutants"
#: Tests of a module, or of all modules whose paths begin so; the longest prefix counts.
TESTS = {
    "criteria/": "criteria projection/test_regularizer.py projection/test_projection.py",
    "criteria/constrained_group_pairs.py": "criteria/test_constrained_group_pairs.py "
    "criteria/test_criteria.py training/test_many_groups.py",
    "criteria/group_pairs.py": "criteria/test_group_pairs.py criteria/test_crossed_groups.py "
    "criteria/test_several_attributes.py "
    "criteria/test_criteria.py projection/test_projection.py",
    "projection/": "projection/test_free_target.py projection/test_regularizer.py "
    "projection/test_solver_ends.py projection/test_projection.py "
    "projection/test_coupled_tolerance.py",
    "projection/regularizer.py": "projection/test_regularizer.py projection/test_solver_ends.py",
    "projection/group_tilts.py": "projection/test_group_tilts.py tables/test_tilt_by_groups.py",
    "projection/solver/shared_tilt.py": "projection/test_group_tilts.py "
    "projection/test_solver_ends.py tables/test_tilt_by_groups.py",
    "projection/subsample.py": "projection/test_subsample.py projection/test_projection.py",
    "projection/sums.py": "projection/test_sums.py projection/test_projection.py",
    "projection/tensor_sums.py": "projection/test_sums.py projection/test_projection.py",
    "metrics/": "metrics/test_metrics.py metrics/test_measures.py metrics/test_gap_details.py",
    "metrics/scored_pairs.py": "metrics/test_metrics.py metrics/test_measures.py "
    "metrics/test_gap_details.py metrics/test_evaluation.py",
    "metrics/candidates.py": "metrics/test_on_candidates.py pairs/test_candidate_source.py "
    "metrics/test_evaluation.py",
    "metrics/evaluation.py": "metrics/test_evaluation.py metrics/test_on_candidates.py",
    "metrics/intervals/": "tables/test_interval_oracles.py metrics/test_intervals.py",
    "metrics/intervals/estimates.py": "metrics/test_estimates.py tables/test_interval_oracles.py "
    "metrics/test_intervals.py",
    "metrics/intervals/placements.py": "metrics/test_placements.py tables/test_interval_oracles.py "
    "metrics/test_intervals.py",
    "metrics/intervals/spreads.py": "metrics/test_estimates.py tables/test_interval_oracles.py "
    "metrics/test_intervals.py",
    "metrics/intervals/changes.py": "tables/test_interval_oracles.py tables/test_compare.py",
    "metrics/fairlearn_frame.py": "metrics/test_evaluation.py",
    "pairs/": "pairs/test_array_pairs.py pairs/test_totals.py pairs/test_tilted_sums.py "
    "pairs/test_lists.py tables/test_tables.py tables/test_weights.py "
    "tables/test_saturated_scores.py",
    "pairs/candidates.py": "pairs/test_candidate_source.py metrics/test_on_candidates.py",
    "pairs/cluster_sums.py": "pairs/test_held_rows.py tables/test_cluster_sums.py "
    "tables/test_interval_oracles.py",
    "pairs/fit.py": "pairs/test_frozen_fits.py tables/test_saturated_scores.py "
    "projection/test_group_tilts.py tables/test_tilt_by_groups.py tables/test_tables.py",
    "pairs/nodes.py": "pairs/test_crossed_sums.py tables/test_interval_oracles.py "
    "tables/test_table_intervals.py metrics/test_intervals.py",
    "pairs/rank_sums.py": "pairs/test_rank_sums.py tables/test_large_tables.py "
    "metrics/test_metrics.py",
    "pairs/reachable_targets.py": "pairs/test_frozen_fits.py tables/test_saturated_scores.py "
    "projection/test_group_tilts.py tables/test_tilt_by_groups.py tables/test_tables.py",
    "pairs/sorting.py": "pairs/test_sorted_rows.py tables/test_large_tables.py "
    "metrics/test_metrics.py",
}
#: Modules that lay out text, and those that only run on Spark; the sums of tables are in pairs/.
LEFT_OUT = ("metrics/printing.py", "metrics/tables/", "pairs/spark")
HEAVY = ("torch", "pandas", "pyarrow", "duckdb", "sklearn.metrics",
         "scipy.optimize", "scipy.sparse", "scipy.special", "scipy.stats", "cvxpy", "clarabel",
         "hypothesis", "polars", "narwhals", "rich", "typer", "jinja2")  # fmt: skip
#: Tests that start processes, which would import the source as it is, or that take long.
MARKERS = "not (slow or standing or spark or browser or data)"
#: Seconds of processor and of time that a mutant may take: several times what its tests take.
CPU_LIMIT, LIMIT = 240, 3600
MEMORY = 12 * 2**30
#: Exit code of tests that pass without having imported the module.
UNSEEN = 99
#: Examples of a property; those of a failure are not kept for the next mutant.
EXAMPLES = 25

SWAPPED = {
    "min": "max", "minimum": "maximum", "any": "all", "argmin": "argmax", "floor": "ceil",
    "nanargmin": "nanargmax", "zeros": "ones", "triu_indices": "tril_indices", "log": "log1p",
    "exp": "expm1", "eigh": "eig", "sort": "unique",
}  # fmt: skip
SWAPPED |= {after: before for before, after in SWAPPED.items() if before not in ("log", "exp")}
OPERATORS: dict[type[ast.AST], tuple[type[ast.AST], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE), ast.LtE: (ast.Lt, ast.Gt), ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt), ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,), ast.NotIn: (ast.In,), ast.And: (ast.Or,),
    ast.Or: (ast.And,), ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,),
    ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,), ast.Mod: (ast.Mult,), ast.Pow: (ast.Mult,),
    ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,),
}  # fmt: skip
#: Calls and keywords whose arguments are texts, types or memory, not results.
TEXTS = {"InputError", "_refused", "warn", "errstate", "cast", "TypeVar", "isinstance", "Registry"}
KEYWORDS = {"argument", "caller", "where", "reason", "note", "dtype", "device", "repr", "strict",
            "out", "kind"}  # fmt: skip
#: Functions of two arguments whose order does not matter.
SYMMETRIC = {"max", "min", "maximum", "minimum", "fmax", "least", "greatest", "array_equal"}
QUIET = {"str", "list[str]", "InputError", "NotConverged"}


@dataclass(frozen=True)
class Mutation:
    """One change of one module, ``number`` in the order of :func:`mutations`."""

    module: str
    number: int
    line: int
    change: str

    def code(self) -> object:
        """The module's code with the change."""
        path = SOURCE / self.module
        tree = ast.parse(path.read_text())
        for number, (_, _, apply) in enumerate(mutations(tree)):
            if number == self.number:
                apply()
                return compile(ast.fix_missing_locations(tree), str(path), "exec")
        raise LookupError(self)


Change = tuple[ast.AST, ast.AST, Callable[[], None]]


def mutations(tree: ast.AST) -> Iterator[Change]:
    """Every mutation of a module: the node, what replaces it, and a function that replaces it."""
    for name, value in ast.iter_fields(tree):
        if _no_result(name):
            continue
        values = value if isinstance(value, list) else [value]
        for place, child in enumerate(values):
            if not isinstance(child, ast.AST) or _quiet(child):
                continue

            def put(new: ast.AST, at: int = place, name: str = name, value: object = value) -> None:
                if isinstance(value, list):
                    value[at] = new
                else:
                    setattr(tree, name, new)

            for new in _replacements(child):
                ast.copy_location(new, child)
                yield child, new, lambda new=new, put=put: put(new)
            yield from mutations(child)


def _no_result(field: str) -> bool:
    """Whether a field of a node holds annotations or decorators."""
    return field in ("annotation", "returns", "decorator_list", "bases")


def _quiet(node: ast.AST) -> bool:
    """Whether a mutation below the node cannot change a number."""
    if isinstance(node, ast.FunctionDef):
        shown = node.name in ("__repr__", "__str__")
        return shown or (node.returns is not None and ast.unparse(node.returns) in QUIET)
    if isinstance(node, ast.If):
        return "TYPE_CHECKING" in ast.unparse(node.test)
    if isinstance(node, ast.Call):
        return ast.unparse(node.func).split(".")[-1] in TEXTS
    if isinstance(node, ast.keyword):
        return node.arg in KEYWORDS
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant | ast.Yield | ast.YieldFrom) or _quiet(
            node.value
        )
    return isinstance(node, ast.Assert | ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom)


def _replacements(node: ast.AST) -> Iterator[ast.AST]:
    """What may stand in place of a node."""
    match node:
        case ast.Compare(left, [op], [right]):
            for new in OPERATORS[type(op)]:
                yield ast.Compare(left, [new()], [right])
        case ast.BinOp(left, op, right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)][0](), right)
        case ast.AugAssign(target, op, value) if type(op) in OPERATORS:
            yield ast.AugAssign(target, OPERATORS[type(op)][0](), value)
        case ast.BoolOp(op, values):
            yield ast.BoolOp(OPERATORS[type(op)][0](), values)
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield operand
        case ast.Constant(bool() | int() | float() as value):
            yield ast.Constant(_other(value))
        case ast.If(test, body, orelse) | ast.IfExp(test, body, orelse):
            if not isinstance(test, ast.Compare | ast.UnaryOp):
                yield type(node)(ast.UnaryOp(ast.Not(), test), body, orelse)
        case ast.Call(func, args, keywords):
            yield from _calls(func, args, keywords)
    if isinstance(node, ast.Expr | ast.AugAssign):  # a statement that only has effects
        yield ast.Pass()


def _other(value: bool | int | float) -> bool | int | float:
    if isinstance(value, bool):
        return not value
    return value + 1 if isinstance(value, int) else 2 * value or 1.0


def _calls(func: ast.expr, args: list[ast.expr], keywords: list[ast.keyword]) -> Iterator[ast.AST]:
    """Another function of the kind, arguments swapped, a keyword left out."""
    name = func.attr if isinstance(func, ast.Attribute) else getattr(func, "id", "")
    if name in SWAPPED:
        other = ast.parse(ast.unparse(func), mode="eval").body
        setattr(other, "attr" if isinstance(other, ast.Attribute) else "id", SWAPPED[name])
        yield ast.Call(other, args, keywords)
    starred = any(isinstance(arg, ast.Starred) for arg in args)
    if len(args) > 1 and not starred and name not in SYMMETRIC:
        yield ast.Call(func, [*args[:-2], args[-1], args[-2]], keywords)
    for at, keyword in enumerate(keywords):
        if keyword.arg is not None and keyword.arg not in KEYWORDS:
            yield ast.Call(func, args, keywords[:at] + keywords[at + 1 :])


def find_mutations(only: str = "") -> list[Mutation]:
    """All mutations of the modules whose paths begin with ``only``, in one order everywhere."""
    paths = sorted(p.relative_to(SOURCE).as_posix() for p in SOURCE.rglob("*.py"))
    found = []
    for module in paths:
        if not module.startswith(tuple(TESTS)) or module.startswith(LEFT_OUT):
            continue
        if not module.startswith(only):
            continue
        tree = ast.parse((SOURCE / module).read_text())
        for number, (old, new, _) in enumerate(mutations(tree)):
            found.append(Mutation(module, number, old.lineno, _shown(old, new)))
    return found


def _shown(old: ast.AST, new: ast.AST) -> str:
    """Both texts, from a little before where they differ."""
    texts = [" ".join(ast.unparse(node).split()) for node in (old, new)]
    same = len(os.path.commonprefix(texts))  # noqa: RUF071
    begin = 0 if same < 40 else same - 20
    return " → ".join("…" * (begin > 0) + text[begin : begin + 60] for text in texts)


def tests_of(module: str) -> str:
    """The tests that hold a module, its own doctests included."""
    named = TESTS[max((prefix for prefix in TESTS if module.startswith(prefix)), key=len)]
    return " ".join([f"src/linkparity/{module}", *(f"tests/{path}" for path in named.split())])


class FewExamples:
    """Fewer examples of every property."""

    def pytest_collection_modifyitems(self, items: list) -> None:
        """Change the settings of each test; the decorators' own go before any profile."""
        from hypothesis import settings

        for item in items:
            test = getattr(item, "obj", None)
            chosen = getattr(test, "_hypothesis_internal_use_settings", None)
            if chosen is not None:
                few = min(chosen.max_examples, EXAMPLES)
                test._hypothesis_internal_use_settings = settings(
                    chosen, max_examples=few, database=None
                )


def run_tests(tests: str, mutation: Mutation | None, log: str) -> None:
    """Run tests in this process, whose exit code is theirs, on a mutated module."""
    loaded: list[str] = [] if mutation else ["the source as it is"]
    os.setpgrp()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    output = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
    for stream in (1, 2):
        os.dup2(output, stream)
    if mutation is not None:
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_LIMIT, CPU_LIMIT))
        code, original = mutation.code(), SourceFileLoader.get_code

        def get_code(loader: SourceFileLoader, name: str) -> object:
            if loader.path != str(SOURCE / mutation.module):
                return original(loader, name)
            loaded.append(name)
            return code

        SourceFileLoader.get_code = get_code
    import pytest

    options = ["-x", "-q", "--tb=line", "--assert=plain", "-p", "no:cacheprovider", "-m", MARKERS]
    options += ["--hypothesis-seed", "0"]
    failed = pytest.main([*options, *tests.split()], plugins=[FewExamples()])
    os._exit(failed if failed or loaded else UNSEEN)


Work = tuple[str, Mutation | None]


def run_all(work: list[Work], jobs: int) -> Iterator[tuple[Work, int, float]]:
    """Run tests on mutations, ``jobs`` at a time; yields exit codes and seconds as they end."""
    context, waiting = multiprocessing.get_context("fork"), list(enumerate(work))[::-1]
    running: dict[BaseProcess, tuple[Work, float]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            number, (tests, mutation) = waiting.pop()
            log = str(LOGS / f"{number:03}.log")
            process = context.Process(target=run_tests, args=(tests, mutation, log))
            process.start()
            running[process] = (tests, mutation), time.monotonic()
        wait([process.sentinel for process in running], 60.0)
        for process, (what, begin) in list(running.items()):
            seconds = time.monotonic() - begin
            if not process.is_alive() or seconds > LIMIT:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)  # what it started ends with it
                process.join()
                del running[process]
                yield what, process.exitcode, seconds


def listed(file: Path, known: list[Mutation]) -> list[Mutation]:
    """The mutations that a file lists as ``module:line  change``, the nearest in line of each."""
    found = []
    for text in file.read_text().splitlines():
        place, _, change = text.partition("  ")
        module, _, line = place.partition(":")
        same = [each for each in known if (each.module, each.change) == (module, change)]
        if same:
            found.append(min(same, key=lambda each: abs(each.line - int(line))))
        else:
            print(f"no longer there: {text}", file=sys.stderr)
    return found


def main() -> None:
    """Draw the sample, run it, print the share killed and the survivors."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sample", type=int, default=320, help="Mutations drawn.")
    parser.add_argument("--seed", type=int, default=0, help="Random seed of the sample.")
    parser.add_argument("--jobs", type=int, default=2, help="Processes at a time.")
    parser.add_argument("--only", default="", help="Modules whose paths begin so.")
    parser.add_argument("--again", type=Path, help="Survivors that an earlier run printed.")
    options = parser.parse_args()
    os.chdir(ROOT)
    LOGS.mkdir(parents=True, exist_ok=True)
    for name in HEAVY:
        importlib.import_module(name)
    begin, known = time.monotonic(), find_mutations(options.only)
    if options.again is None:
        drawn = random.Random(options.seed).sample(known, min(options.sample, len(known)))
    else:
        drawn = listed(options.again, known)
    drawn.sort(key=lambda mutation: (mutation.module, mutation.number))
    work: list[Work] = [(tests_of(mutation.module), mutation) for mutation in drawn]
    every = " ".join(dict.fromkeys(" ".join(tests for tests, _ in work).split()))
    for _, code, _ in run_all([(every, None)], 1):
        if code != 0:
            sys.exit(f"without a mutation, exit code {code}: pytest {every}")
    survivors, late = [], 0
    for done, ((_, mutation), code, seconds) in enumerate(run_all(work, options.jobs)):
        if code == UNSEEN:
            sys.exit(f"{mutation.module} was not imported by {tests_of(mutation.module)}")
        late += code in (-signal.SIGXCPU, -signal.SIGKILL)
        word = "killed" if code else "survived"
        text = f"{word:8} {seconds:5.0f} s  {mutation.module}:{mutation.line}  {mutation.change}"
        print(f"{done + 1:3}/{len(work)} {text}", file=sys.stderr, flush=True)
        if code == 0:
            survivors.append(mutation)
    share, minutes = 1 - len(survivors) / len(work), (time.monotonic() - begin) / 60
    print(
        f"{share:.1%} of {len(work)} mutations killed ({late} by a limit of time), of "
        f"{len(known):,} that there are; seed {options.seed}, {minutes:.0f} minutes"
    )
    for mutation in sorted(survivors, key=lambda each: (each.module, each.line)):
        print(f"{mutation.module}:{mutation.line}  {mutation.change}")


if __name__ == "__main__":
    main()
