"""A report of experiments as one HTML file that needs no network, and its charts as objects."""

import json
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from linkparity.datasets import DATASETS
from linkparity.experiments.results import Results, Summary, flat, summarize
from linkparity.experiments.rows import Row
from linkparity.metrics.measures import MEASURES
from linkparity.report import inlined_assets
from linkparity.report.chart_data import Record
from linkparity.report.chart_style import SHAPES, Look, notebook_look
from linkparity.report.charts import make_charts
from linkparity.report.choices import Choices, data_name
from linkparity.report.findings import facts, findings, notes
from linkparity.report.rendering import printable, render
from linkparity.support.errors import InputError, require
from linkparity.support.files import STREAM, check_output, whole_files, write_text

FORMATS = ("svg", "png", "pdf")
#: Symbols of the page's legend, one per shape of a criterion.
SYMBOLS = dict(zip(SHAPES, "●◆■▲✚▼◀", strict=True))
#: Rows of the table of all fits; the downloads have all of them.
MAX_FITS = 1000
#: Bytes of the downloads, compressed, up to which rows keep everything.
MAX_DOWNLOAD = 800_000
#: What rows lose, one after the other, where they would be too many bytes.
BULKY = ("quantiles", "history", "notes", "reasons", "cells", "versions", "settings", "intervals")
#: Panels with the charts that they are made of, and why there may be none.
PANELS = {
    "tradeoff": (("tradeoff",), "there is no gap or no measure of quality"),
    "strength": (
        ("strength-quality", "strength-gap"),
        "it needs two weights (gammas) or strengths of one method",
    ),
    "groups": (("groups-before", "groups-after"), "rows have no means per pair of groups"),
    "distribution": (("distribution",), "rows have no quantiles of predictions"),
    "training": (("training",), "rows have no training history"),
    "times": (("times",), ""),
}


@dataclass(frozen=True)
class Comparison:
    """Published numbers beside ours.

    Attributes:
        cells: One per published number that the results have a counterpart of.
        verdicts: How many cells agree, are better, differ, and how many there are.
        points: The published means of methods, as records of charts.
        tables: By data set: the measures, and the cells by model and criterion, then by measure.
        differences: One sentence per cell that differs.
    """

    cells: Sequence[Any] = ()
    verdicts: Mapping[str, int] = field(default_factory=dict)
    points: Sequence[Record] = ()
    tables: Mapping[str, Any] = field(default_factory=dict)
    differences: Sequence[str] = ()


@dataclass(frozen=True, eq=False)
class ReportPage:
    """What an experiment found: in words, as charts, as a page.

    Attributes:
        results: Rows of ``lp.run``, or of a file (``lp.Results.read``).
        against: Name of the published numbers to compare with, one of ``comparisons``, or None.
        command: The command that made it, shown on the page.
    """

    results: Results
    against: str | None = None
    command: str = ""

    comparisons: ClassVar[Mapping[str, Callable[[Sequence[Summary]], Comparison]]] = {}

    def __post_init__(self) -> None:
        if self.against is not None and self.against not in self.comparisons:
            problem, known = f"unknown comparison {self.against!r}", ", ".join(self.comparisons)
            raise InputError(problem, f"known: {known}", argument="against", caller="Report")
        if not self.summaries:
            said = (
                f"; the first failed: {self.results.failed[0].error}" if self.results.failed else ""
            )
            fix = "make some with linkparity run or reproduce"
            raise InputError(f"there are no finished rows{said}", fix, caller="Report")

    @cached_property
    def summaries(self) -> list[Summary]:
        """Means over the seeds."""
        return summarize(self.results.rows)

    @property
    def findings(self) -> dict[str, list[str]]:
        """Sentences by data set, that with the largest gap first."""
        return findings(self.summaries)

    @property
    def cells(self) -> list[Any]:
        """The published numbers beside ours; empty unless asked for."""
        return list(self._comparison.cells)

    @cached_property
    def _comparison(self) -> Comparison:
        if self.against is None:
            return Comparison()
        return self.comparisons[self.against](self.summaries)

    @property
    def charts(self) -> dict[str, Any]:
        """Altair charts by name, with controls, for a notebook."""
        return self._charts(notebook_look())

    def _charts(self, look: Look) -> dict[str, Any]:
        return make_charts(self.summaries, look, self._comparison.points)

    def save(self, path: str | Path, force: bool = False) -> None:
        """Write the page."""
        check_output(str(path), force)
        write_text(str(path), self.to_html(), force)

    def save_figures(self, directory: str | Path, force: bool = False) -> list[str]:
        """Write every chart as SVG, PNG and PDF; returns the names of the files."""
        drawn = self._figures(Path(directory))
        _check_figures(Path(directory), list(drawn), force)
        with whole_files(list(drawn), force) as paths:
            _draw(drawn, paths)
        return list(drawn)

    def _specs(self, look: Look) -> dict[str, Any]:
        """Vega-Lite by chart, without characters that an SVG cannot hold."""
        return {name: printable(chart.to_dict()) for name, chart in self._charts(look).items()}

    def _figures(self, folder: Path) -> dict[str, tuple[str, Any]]:
        """Format and Vega-Lite of every figure file by its name."""
        specs = self._specs(Look()).items()
        return {str(folder / f"{name}.{kind}"): (kind, s) for name, s in specs for kind in FORMATS}

    def to_dict(self) -> dict[str, Any]:
        """One object for ``--json``."""
        return {
            "rows": len(self.results),
            "failed": len(self.results.failed),
            "methods": self.choices.methods,
            "findings": self.findings,
            "cells": None if self.against is None else self._comparison.verdicts,
        }

    def to_html(self) -> str:
        """The page: one file, nothing is loaded from anywhere."""
        specs = self._specs(Look.of_page())
        library, script = inlined_assets.library(), inlined_assets.script()
        return render(
            "report.html.j2",
            report=self,
            title="Accuracy and parity: " + ", ".join(self.choices.datasets),
            choices=self.choices,
            facts=facts(self.summaries, len(self.results.failed)),
            cards=[DATASETS[n].card for n in self.choices.datasets if n in DATASETS],
            charts=inlined_assets.packed_charts(specs),
            pictures={name: inlined_assets.static_svg(name, spec) for name, spec in specs.items()},
            panels={name for name, (need, _) in PANELS.items() if set(need) <= specs.keys()},
            missing={n: why for n, (need, why) in PANELS.items() if not set(need) <= specs.keys()},
            verdicts=self._comparison.verdicts if self.cells else None,
            comparison=self._comparison.tables,
            differences=self._comparison.differences,
            tables=self._tables(),
            legend=self._legend(),
            methods=printable(self._methods()),
            notes=notes(self.results),
            downloads=self._downloads(),
            library=library,
            script=script,
            hashes=[inlined_assets.script_hash(text) for text in (library, script)],
            date=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
            measures=MEASURES,
            zip=zip,
            dict=dict,
        )

    @cached_property
    def choices(self) -> Choices:
        """What a reader can choose among."""
        return Choices.of(self.summaries)

    def _methods(self) -> dict[str, list[str]]:
        """Data sets by method."""
        found: dict[str, list[str]] = {}
        for each in self.summaries:
            found.setdefault(each.method, []).append(data_name(each))
        return found

    def _legend(self) -> list[dict[str, str]]:
        """One entry per method: its name, the colour of its model, the symbol of its criterion."""
        by_method = {each.method: each for each in self.summaries}
        found = []
        for name, each in by_method.items():
            color = self.choices.models.index(each.model) % len(Look.models) + 1
            shape = SHAPES[self.choices.criteria.index(each.criterion) % len(SHAPES)]
            found.append({"method": name, "color": f"m{color}", "symbol": SYMBOLS[shape]})
        return found

    def _tables(self) -> dict[str, list[dict[str, Any]]]:
        """Means over the seeds, and every fit: texts, with the numbers to sort by."""
        means = [
            _table_row(each, str(len(each.rows)), each.measures,
                       each.fit_seconds)
            for each in self.summaries
        ]  # fmt: skip
        fits = [
            _table_row(each, str(row.seed), row.values, row.fit_seconds or 0.0)
            for each in self.summaries
            for row in each.rows
        ]
        return {"means": means, "fits": fits if len(fits) <= MAX_FITS else []}

    def _downloads(self) -> dict[str, Any]:
        """All rows as JSON and CSV, compressed; what had to be left out to stay small."""
        rows = [row.to_dict() for row in self.results]
        table = inlined_assets.packed(inlined_assets.csv_text([flat(row) for row in rows]))
        left_out: list[str] = []
        packed = inlined_assets.packed(json.dumps(rows, ensure_ascii=False))
        for name in BULKY:
            if len(packed) + len(table) <= MAX_DOWNLOAD:
                break
            left_out.append(name)
            rows = [{k: v for k, v in row.items() if k != name} for row in rows]
            packed = inlined_assets.packed(json.dumps(rows, ensure_ascii=False))
        return {"json": packed, "csv": table, "left_out": left_out, "rows": len(rows)}


def make_report(
    kind: type[ReportPage],
    rows: Sequence[str],
    out: str,
    against: str | None = None,
    figures: str | None = None,
    force: bool = False,
) -> tuple[ReportPage, list[str]]:
    """The report of some files of rows, written to ``out``; and the names of the figures.

    Args:
        kind: Report to make.
        rows: Files of rows; a fit that several of them have counts once.
        out: The page.
        against: Name of the published numbers to compare with, or None.
        figures: Directory for the charts as files.
        force: Whether existing outputs may be replaced.
    """
    check_output(out, force, inputs=rows)
    found: dict[object, Row] = {}
    for name in rows:
        for place, row in enumerate(Results.read(name)):
            key = row.id or (name, place)
            if key not in found or found[key].error is not None:
                found[key] = row
    given = ["--out", out, *(["--against", against] if against else [])]
    given += ["--figures", figures] if figures else []
    command = shlex.join(["linkparity", "report", *rows, *given])
    try:
        report = kind(Results(tuple(found.values())), against, command)
    except InputError as error:
        said = error.message
        raise InputError(said.problem, said.fix, where=", ".join(rows)) from None
    drawn = report._figures(Path(figures)) if figures else {}
    if figures:
        _check_figures(Path(figures), list(drawn), force, rows, out)
    html = report.to_html()
    with whole_files([out, *drawn], force) as (page, *paths):
        Path(page).write_text(html, encoding="utf-8")
        _draw(drawn, paths)
    return report, list(drawn)


def _check_figures(
    folder: Path, names: list[str], force: bool, inputs: Sequence[str] = (), page: str = STREAM
) -> None:
    """Refuse figures that would replace an input or the page; make their directory."""
    if Path(page).resolve() in (folder.resolve(), *(Path(name).resolve() for name in names)):
        raise InputError("the figures would go to the same place", "choose another", where=page)
    if not folder.is_dir() and folder.exists():
        raise InputError("is not a directory", "choose another name", where=str(folder))
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        check_output(name, force, inputs)


def _draw(figures: dict[str, tuple[str, Any]], paths: Sequence[str]) -> None:
    """Write figures to paths, in their order."""
    convert = require("vl_convert", "a report")
    for (kind, spec), path in zip(figures.values(), paths, strict=True):
        made = getattr(convert, f"vegalite_to_{kind}")(spec)
        Path(path).write_bytes(made.encode() if isinstance(made, str) else made)


def _table_row(
    summary: Summary, seed: str, values: dict[str, Any], seconds: float
) -> dict[str, Any]:
    chosen_per_seed = "max_gap" in summary.settings  # by tune
    gamma = None if summary.criterion == "none" or chosen_per_seed else summary.gamma
    return {
        "dataset": data_name(summary), "method": summary.method, "model": summary.model,
        "criterion": summary.criterion, "gamma": gamma,
        "strength": summary.strength, "seed": seed, "values": values, "seconds": seconds,
    }  # fmt: skip
