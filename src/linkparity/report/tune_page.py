"""The trials of a search as one HTML file: AUC against gap, no script, no network."""

from typing import TYPE_CHECKING, NamedTuple

from linkparity.experiments.tune_trials import describe
from linkparity.report.rendering import render
from linkparity.support.display import format_number
from linkparity.support.files import write_text

if TYPE_CHECKING:
    from linkparity.experiments.tune import Tuning
    from linkparity.experiments.tune_trials import Trial

WIDTH, HEIGHT, MARGIN = 640, 360, 56
#: Ticks of an axis.
TICKS = 5


class Point(NamedTuple):
    """A trial in the drawing: place, tooltip, and what marks it."""

    x: float
    y: float
    tip: str
    qualified: bool
    chosen: bool


class Tick(NamedTuple):
    """A mark of an axis: its place in the drawing and its text."""

    at: float
    text: str


def write_tuning(name: str, tuning: "Tuning", force: bool = False) -> None:
    """Write :func:`tuning_html` to a file."""
    write_text(name, tuning_html(tuning), force)


def tuning_html(tuning: "Tuning") -> str:
    """The whole page: the choice in words, the drawing, the trials, the measures."""
    measure, limit = next(iter(tuning.max_gap.items()))
    known = [t for t in tuning.curve if t.gaps[measure] == t.gaps[measure] and t.auc == t.auc]
    across = _Axis([t.gaps[measure] for t in known] + [0.0, limit], MARGIN, WIDTH - 16)
    up = _Axis([t.auc for t in known], HEIGHT - MARGIN, 16)
    return render(
        "tune.html.j2",
        tuning=tuning,
        measure=measure,
        points=[_point(t, tuning, measure, across, up) for t in known],
        limit=across.place(limit),
        across=across.ticks(),
        up=up.ticks(),
        width=WIDTH,
        height=HEIGHT,
        margin=MARGIN,
        describe=describe,
    )


class _Axis:
    """Numbers → places in the drawing."""

    def __init__(self, values: list[float], start: float, end: float) -> None:
        low, high = (min(values), max(values)) if values else (0.0, 1.0)
        room = (high - low) * 0.06 or 0.01
        self.low, self.high = low - room, high + room
        self.start, self.end = start, end

    def place(self, value: float) -> float:
        """Where a number is drawn."""
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self) -> list[Tick]:
        """Evenly spaced marks."""
        step = (self.high - self.low) / (TICKS - 1)
        values = [self.low + step * i for i in range(TICKS)]
        return [Tick(self.place(value), format_number(value)) for value in values]


def _point(trial: "Trial", tuning: "Tuning", measure: str, across: _Axis, up: _Axis) -> Point:
    gap = trial.gaps[measure]
    tip = f"{describe(trial)}: auc {format_number(trial.auc)}, {measure} {format_number(gap)}"
    place = across.place(gap), up.place(trial.auc)
    return Point(*place, tip, trial.qualified, trial is tuning.chosen)
