"""What the charts of a report share: colours, scales, parameters, size.

Charts are single views, so that they fit any width. What a reader chooses (data set, measures,
seed, the method that is followed) are parameters with the same names in every chart, so that one
choice can be set in all of them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from linkparity.experiments.results import Summary
from linkparity.metrics.measures import MEASURES
from linkparity.report.chart_data import Record
from linkparity.report.choices import Choices
from linkparity.support.errors import require

SHAPES = ("circle", "diamond", "square", "triangle-up", "cross", "triangle-down", "triangle-left")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [1, 3], [10, 4], [4, 1])
#: Parameters that have a control where charts have controls of their own.
CONTROLS = ("dataset", "seed", "gap", "quality", "over", "curve", "followed")
#: Methods, other than the one that is followed, are drawn so faintly.
FAINT = 0.12
VISIBLE = "datum.dataset == dataset && indexof(hidden, datum.method) < 0"
FOLLOWED = "followed == '' || datum.method == followed"


@dataclass(frozen=True)
class Look:
    """Colours and size of charts.

    Attributes:
        ink: Colour of text.
        dim: Colour of what is less important.
        line: Colour of grids.
        accent: Colour of heatmaps and of what a method does.
        on_accent: Colour of text on it.
        background: Colour behind a chart.
        models: Colours of models, in order.
        width: Width in pixels, or ``"container"``.
        legends: Whether charts have legends; a page has one for all of them.
        controls: Whether charts have controls of their own, as in a notebook.
    """

    ink: str = "#14202e"
    dim: str = "#5b6b7d"
    line: str = "#dfe5ec"
    accent: str = "#1f5fa8"
    on_accent: str = "#ffffff"
    background: str = "#ffffff"
    models: tuple[str, ...] = (
        "#1f5fa8", "#c25e00", "#1b7f5c", "#8a4fa3", "#b3262e", "#00798c", "#7a5230", "#b0307a",
        "#6b7a12", "#55606c", "#a67f00", "#3a3fb5",
    )  # fmt: skip
    width: int | str = 640
    legends: bool = True
    controls: bool = False

    @classmethod
    def of_page(cls) -> "Look":
        """Colours are variables of the page's style sheet, which has them for light and dark."""
        ink, dim, line, accent, on_accent = (
            f"var(--{name})" for name in ("ink", "dim", "line", "accent", "on-accent")
        )
        return cls(
            ink, dim, line, accent, on_accent, "transparent",
            tuple(f"var(--m{number + 1})" for number in range(len(cls.models))), "container",
            legends=False,
        )  # fmt: skip


class ChartStyle:
    """Parts of the charts of some results.

    Args:
        summaries: Results over the seeds.
        look: Colours and size.
        published: Published numbers to draw too, as records of methods.
    """

    def __init__(
        self,
        summaries: Sequence[Summary],
        look: Look | None = None,
        published: Sequence[Record] = (),
    ) -> None:
        self.alt = require("altair", "a report")
        self.summaries, self.look = summaries, look or Look()
        self.choices = Choices.of(summaries)
        self.published = published

    def finish(
        self, chart: Any, title: str, description: str, names: Sequence[str], **size: Any
    ) -> Any:
        """A chart with its parameters, title, style and size; ``title`` is an expression."""
        alt, look = self.alt, self.look
        text = {"labelColor": look.dim, "titleColor": look.ink, "labelFontSize": 12}
        lines = {"domainColor": look.line, "tickColor": look.line, "gridColor": look.line}
        size = {"width": look.width} | size
        if look.width == "container":
            size["autosize"] = alt.AutoSizeParams(type="fit-x", contains="padding")
        return (
            chart.add_params(*(self.param(name) for name in names))
            .properties(
                title=alt.TitleParams(alt.ExprRef(title), anchor="start", offset=10),
                description=description, **size,
            )
            .configure(
                background=look.background, font="system-ui, sans-serif",
                padding={"left": 4, "right": 10, "top": 4, "bottom": 4},
                view=alt.ViewConfig(stroke=None),
                axis=alt.AxisConfig(**text, **lines, labelLimit=150, labelPadding=5, gridWidth=0.7),
                axisX=alt.AxisConfig(grid=False),
                legend=alt.LegendConfig(
                    labelColor=look.ink, titleColor=look.dim, orient="bottom", columns=4,
                    labelFontSize=12, titleFontWeight="normal", symbolOpacity=1,
                ),
                title=alt.TitleConfig(
                    color=look.ink, fontSize=12.5, fontWeight="normal", lineHeight=18,
                ),
            )
        )  # fmt: skip

    def param(self, name: str) -> Any:
        """A choice of the reader, or something that follows from it."""
        alt, choices = self.alt, self.choices
        after = "followed == '' ? shown[dataset] : followed"
        formulas = {"after": after, "before": f"plain[{after}]"}
        if name in formulas:
            return alt.param(name=name, expr=formulas[name])
        values: dict[str, Any] = {
            "dataset": choices.datasets[0],
            "seed": choices.seeds[0],
            "gap": next(iter(choices.gaps), ""),
            "quality": next(iter(choices.qualities), ""),
            "over": "pairs",
            "curve": "loss",
            "hidden": [],
            "followed": "",
            "shown": choices.shown,
            "plain": choices.plain,
            "titles": {m.name: f"{m.name}, {m.title.lower()}" for m in MEASURES.values()},
        }
        if not self.look.controls or name not in CONTROLS:
            return alt.param(name=name, value=values[name])
        options = {
            "dataset": choices.datasets, "seed": choices.seeds, "gap": choices.gaps,
            "quality": choices.qualities, "over": ["pairs", "links"],
            "curve": ["loss", "gap", "kl"], "followed": ["", *choices.methods],
        }[name]  # fmt: skip
        bound = alt.binding_select(options=options, name=f"{name} ")
        return alt.param(name=name, value=values[name], bind=bound)

    def color(self) -> Any:
        """One colour per model."""
        alt, look = self.alt, self.look
        models = self.choices.models
        colors = [look.models[place % len(look.models)] for place in range(len(models))]
        legend = alt.Legend() if look.legends else None
        return alt.Color("model:N", scale=alt.Scale(domain=models, range=colors), legend=legend)

    def per_criterion(self, channel: str, values: Sequence[Any]) -> Any:
        """One shape or dash per criterion."""
        alt, criteria = self.alt, self.choices.criteria
        chosen = [values[place % len(values)] for place in range(len(criteria))]
        scale = alt.Scale(domain=criteria, range=chosen)
        made = {"shape": alt.Shape, "dash": alt.StrokeDash}[channel]
        return made("criterion:N", scale=scale, legend=alt.Legend() if self.look.legends else None)

    def faint(self, full: float = 1.0) -> Any:
        """Opacity: faint where another method is followed."""
        alt = self.alt
        return alt.condition(FOLLOWED, alt.value(full), alt.value(full * FAINT))

    def tooltip(self) -> list[Any]:
        """The method, then every measure."""
        alt = self.alt
        known = [*self.choices.qualities, *self.choices.gaps]
        seconds = alt.Tooltip("seconds:Q", format=".2f")
        numbers = [alt.Tooltip(f"{name}:Q", format=".4g") for name in known]
        return [alt.Tooltip("method:N"), alt.Tooltip("seed:N"), *numbers, seconds]


def notebook_look() -> Look:
    """Light colours, with legends and controls."""
    return replace(Look(), controls=True)
