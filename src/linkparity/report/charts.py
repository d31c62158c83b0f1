"""The charts of a report as Altair objects; here those of results: trade-off, strength, times."""

from collections.abc import Sequence
from typing import Any

from linkparity.experiments.results import Summary
from linkparity.metrics.measures import MEASURES
from linkparity.report import chart_data
from linkparity.report.chart_data import Record
from linkparity.report.chart_style import DASHES, FAINT, SHAPES, VISIBLE, ChartStyle, Look
from linkparity.report.choices import ALL_SEEDS
from linkparity.report.method_charts import distribution, groups, training

#: A log scale is used where the largest of some times is so many times the smallest.
LOG_FROM = 30


def make_charts(
    summaries: Sequence[Summary], look: Look | None = None, published: Sequence[Record] = ()
) -> dict[str, Any]:
    """Charts by name; without those that the rows have no data for."""
    charts = ChartStyle(summaries, look, published)
    found: dict[str, Any] = {}
    if charts.choices.gaps and charts.choices.qualities:
        found["tradeoff"] = tradeoff(charts)
    if curves := chart_data.strength_curves(summaries):
        kinds = ("quality", "gap")
        found |= {f"strength-{kind}": strength(charts, curves, kind) for kind in kinds}
    if maps := chart_data.heatmaps(summaries):
        found |= {f"groups-{side}": groups(charts, maps, side) for side in ("before", "after")}
    if quantiles := chart_data.distributions(summaries):
        found["distribution"] = distribution(charts, quantiles)
    if epochs := chart_data.histories(summaries):
        found["training"] = training(charts, epochs)
    return found | {"times": times(charts)}


def tradeoff(charts: ChartStyle) -> Any:
    """Quality against gap: bars, the paper's points, the Pareto front, the methods."""
    alt, look = charts.alt, charts.look
    data = alt.InlineData(values=chart_data.points(charts.summaries))
    found = _at(alt.Chart(data).transform_filter("datum.seed == seed"))
    scale = alt.Scale(zero=False, padding=16, nice=False)
    x = alt.X("x:Q", axis=alt.Axis(title=None, tickCount=6, labelOverlap=True), scale=scale)
    y = alt.Y("y:Q", axis=alt.Axis(title=None, tickCount=6), scale=scale)
    front = (
        found.transform_window(
            best="max(y)", frame=[None, 0],
            sort=[{"field": "x"}, {"field": "y", "order": "descending"}],
        )
        .transform_filter("datum.y >= datum.best")
        .mark_line(interpolate="step-after", color=look.dim, strokeWidth=1.5, opacity=0.6)
        .encode(x, y, order="x:Q")
    )  # fmt: skip
    bars = found.mark_rule(strokeWidth=1.5).encode(color=charts.color(), opacity=charts.faint(0.45))
    marks = found.mark_point(filled=True, size=120, cursor="pointer").encode(
        x, y, charts.color(), charts.per_criterion("shape", SHAPES), opacity=charts.faint(),
        tooltip=charts.tooltip(),
    )  # fmt: skip
    names = found.transform_filter("datum.method == followed").mark_text(
        align="left", dx=10, dy=-8, color=look.ink, fontSize=12
    )
    layers = [
        _parity(charts), front, bars.encode(alt.X("xl:Q"), y, alt.X2("xh:Q")),
        bars.encode(x, alt.Y("yl:Q"), y2="yh:Q"), *_published(charts), marks,
        names.encode(x, y, alt.Text("method:N")),
    ]  # fmt: skip
    title = "['↑ ' + titles[quality], '→ ' + titles[gap]]"
    if look.legends:  # a page says which data set is shown
        title = title.replace("[", "[dataset, ", 1)
    return charts.finish(
        alt.layer(*layers), title, "Quality against gap of every method.",
        ("dataset", "seed", "gap", "quality", "hidden", "followed", "titles"), height=380,
    )  # fmt: skip


def _at(chart: Any) -> Any:
    """Visible records with the chosen measures as ``x`` and ``y``, and the ends of bars."""
    return (
        chart.transform_filter(VISIBLE)
        .transform_calculate(
            x="datum[gap]", y="datum[quality]",
            xl="datum[gap + '_low']", xh="datum[gap + '_high']",
            yl="datum[quality + '_low']", yh="datum[quality + '_high']",
        )
        .transform_filter("isValid(datum.x) && isValid(datum.y)")
    )  # fmt: skip


def _parity(charts: ChartStyle) -> Any:
    alt = charts.alt
    parity = [{"gap_name": name, "at": MEASURES[name].parity} for name in charts.choices.gaps]
    rule = alt.Chart(alt.InlineData(values=parity)).transform_filter("datum.gap_name == gap")
    return rule.mark_rule(strokeDash=[2, 3], color=charts.look.dim).encode(alt.X("at:Q"))


def _published(charts: ChartStyle) -> list[Any]:
    """The paper's points, hollow, each tied to ours."""
    alt = charts.alt
    if not charts.published:
        return []
    ours = {
        (each["dataset"], each["method"]): each
        for each in chart_data.points(charts.summaries)
        if each["seed"] == ALL_SEEDS
    }
    tied = [
        each
        | {f"our_{n}": ours[each["dataset"], each["method"]].get(n) for n in MEASURES}
        for each in charts.published
    ]  # fmt: skip
    found = _at(alt.Chart(alt.InlineData(values=tied)).transform_filter(f"seed == '{ALL_SEEDS}'"))
    found = found.transform_calculate(x2="datum['our_' + gap]", y2="datum['our_' + quality]")
    ties = found.mark_rule(strokeWidth=1, strokeDash=[2, 2]).encode(
        alt.X("x:Q"), alt.Y("y:Q"), alt.X2("x2:Q"), y2="y2:Q"
    )
    known = [n for n in MEASURES if any(n in each for each in charts.published)]
    tips = [alt.Tooltip("label:N", title="published")]
    tips += [alt.Tooltip(f"{n}:Q", format=".3f") for n in known]
    hollow = found.transform_calculate(label="datum.method").mark_point(
        filled=False, size=110, strokeWidth=1.6, cursor="pointer"
    )
    shape = charts.per_criterion("shape", SHAPES)
    marks = hollow.encode(alt.X("x:Q"), alt.Y("y:Q"), shape, tooltip=tips)
    return [layer.encode(charts.color(), opacity=charts.faint(0.8)) for layer in (ties, marks)]


def strength(charts: ChartStyle, curves: list[Record], kind: str) -> Any:
    """A measure by the weight of the regularizer; ``kind`` is ``quality`` or ``gap``."""
    alt = charts.alt
    found = (
        alt.Chart(alt.InlineData(values=curves))
        .transform_filter(f"datum.seed == seed && {VISIBLE}")
        .transform_calculate(
            y=f"datum[{kind}]", low=f"datum[{kind} + '_low']", high=f"datum[{kind} + '_high']"
        )
        .transform_filter("isValid(datum.y)")
    )
    weights = sorted({each["weight"] for each in curves})
    smallest = min((weight for weight in weights if weight > 0), default=1.0)
    scale = alt.Scale(type="symlog", constant=smallest / 2, nice=False)
    x = alt.X("weight:Q", scale=scale, axis=alt.Axis(values=weights, title=None, labelOverlap=True))
    y = alt.Y("y:Q", title=None, scale=alt.Scale(zero=kind == "gap"))
    of_curve = {"detail": "curve:N", "opacity": _faint_curve(charts)}
    band = found.mark_area(opacity=0.13).encode(
        x, alt.Y("low:Q"), alt.Y2("high:Q"), charts.color(), detail="curve:N"
    )
    line = found.mark_line(strokeWidth=2, cursor="pointer").encode(
        x, y, charts.color(), charts.per_criterion("dash", DASHES), **of_curve
    )
    marks = found.mark_point(filled=True, size=60, cursor="pointer").encode(
        x, y, charts.color(), charts.per_criterion("shape", SHAPES), tooltip=charts.tooltip(),
        **of_curve,
    )  # fmt: skip
    title = f"['↑ ' + titles[{kind}], '→ weight of the regularizer, or strength; 0 is plain']"
    return charts.finish(
        alt.layer(band, line, marks), title, f"{kind} of every method by its strength.",
        ("dataset", "seed", kind, "hidden", "followed", "titles"), height=260,
    )  # fmt: skip


def _faint_curve(charts: ChartStyle) -> Any:
    """Opacity of a curve: faint where a method of another curve is followed."""
    alt = charts.alt
    own = "followed == '' || indexof(followed, datum.curve) == 0"
    return alt.condition(own, alt.value(1), alt.value(FAINT))


def times(charts: ChartStyle) -> Any:
    """Seconds of a fit per method, and the paper's."""
    alt = charts.alt
    data = chart_data.points(charts.summaries)
    theirs = [each for each in charts.published if each["paper_seconds"]]
    seconds = [each["seconds"] for each in data] + [each["paper_seconds"] for each in theirs]
    known = [value for value in seconds if value > 0]
    log = known and max(known) > LOG_FROM * min(known)
    low = 0.8 * min(known, default=1.0) if log else 0.0
    scale = alt.Scale(type="log", domainMin=low, nice=False) if log else alt.Scale()
    x = alt.X("seconds:Q", title=None, scale=scale, axis=alt.Axis(tickCount=5, format="~r"))
    room = alt.ExprRef("containerSize()[0] < 500 ? 150 : 230")
    axis = alt.Axis(title=None, labelLimit=room, ticks=False, domain=False)
    y = alt.Y("method:N", axis=axis, sort=charts.choices.methods)
    found = alt.Chart(alt.InlineData(values=data)).transform_filter(
        f"datum.seed == seed && datum.seconds > 0 && {VISIBLE}"
    )
    bars = found.mark_bar(cornerRadiusEnd=3, cursor="pointer").encode(
        x, y, charts.color(), alt.X2Datum(low), opacity=charts.faint(), tooltip=charts.tooltip()
    )
    text = found.transform_calculate(
        label="format(datum.seconds, datum.seconds < 9.95 ? '.2f' : ',.0f') + ' s'"
    ).mark_text(align="left", dx=5, color=charts.look.ink, fontSize=11.5)
    layers = [bars, text.encode(x, y, alt.Text("label:N"))]
    if theirs:
        ticks = alt.Chart(alt.InlineData(values=theirs)).transform_filter(VISIBLE)
        tips = [alt.Tooltip("method:N", title="published"), alt.Tooltip("paper_seconds:Q")]
        layers.append(
            ticks.mark_tick(color=charts.look.ink, thickness=2, size=16).encode(
                alt.X("paper_seconds:Q"), y, tooltip=tips
            )
        )
    title = "'→ seconds of one fit" + (", log scale'" if log else "'")
    return charts.finish(
        alt.layer(*layers), title, "Seconds of one fit per method.",
        ("dataset", "seed", "hidden", "followed"), height=alt.Step(22),
    )  # fmt: skip
