"""Charts that look inside methods: pairs of groups before and after, distributions, training."""

from typing import Any

from linkparity.experiments.row_schema import LEVELS
from linkparity.report.chart_data import Record, logit
from linkparity.report.chart_style import DASHES, VISIBLE, ChartStyle

#: Probabilities that the axis of a distribution shows.
TICKS = (
    0.5, 1e-6, 1e-5, 1e-4, 0.001, 0.01, 0.05, 0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99,
    0.999,
)  # fmt: skip
PROBABILITY = "format(1 / (1 + exp(-datum.value)), datum.value > 2 ? '.5~p' : '.2~p')"
NUMBER = (
    "format(datum.value, abs(datum.value) >= 0.0995 ? '.3f' : "
    "datum.value == 0 || abs(datum.value) >= 0.001 ? '.4f' : '.1e')"
)
#: Groups of a heatmap up to which squares have their number in them.
MAX_LABELLED = 8
CHOSEN = (
    "datum.dataset == dataset && datum.seed == seed && "
    "(datum.method == after || datum.method == before)"
)
PARAMETERS = ("dataset", "seed", "over", "followed", "shown", "plain", "after", "before")


def groups(charts: ChartStyle, maps: list[Record], side: str) -> Any:
    """Mean prediction per pair of groups; the shades of both sides have one scale."""
    alt, look = charts.alt, charts.look
    count = max(len(set(each["b"])) for each in maps)
    found = (
        alt.Chart(alt.InlineData(values=maps))
        .transform_filter(CHOSEN)
        .transform_flatten(["a", "b", "pairs", "links"])
        .transform_calculate(value="datum[over]")
        .transform_filter("isValid(datum.value)")
        .transform_joinaggregate(low="min(value)", high="max(value)")
        .transform_calculate(
            shade="(datum.value - datum.low) / max(datum.high - datum.low, 0.02 * datum.high)",
            label=NUMBER,
        )
        .transform_filter(f"datum.method == {side}")
    )
    plain = {"title": None, "ticks": False, "domain": False, "labelLimit": 110}
    x = alt.X("b:N", sort=None, axis=alt.Axis(labelAngle=-35 if count > 4 else 0, **plain))
    y = alt.Y("a:N", sort=None, axis=alt.Axis(**plain))
    tips = [
        alt.Tooltip("method:N"),
        alt.Tooltip("a:N", title="group"),
        alt.Tooltip("b:N", title="with"),
    ]
    squares = found.mark_rect(cornerRadius=4, color=look.accent, strokeWidth=0).encode(
        x, y, opacity=alt.Opacity("shade:Q", legend=None,
                                  scale=alt.Scale(domain=[0, 1], range=[0.1, 1])),
        tooltip=[*tips, alt.Tooltip("value:Q", title="mean prediction", format=".4g")],
    )  # fmt: skip
    ink = alt.condition("datum.shade > 0.6", alt.value(look.on_accent), alt.value(look.ink))
    numbers = found.mark_text(fontSize=13).encode(x, y, alt.Text("label:N"), color=ink)
    layers = [squares, numbers] if count <= MAX_LABELLED else [squares]
    return charts.finish(
        alt.layer(*layers), f"'{side}: ' + {side}", f"Mean prediction per pair of groups, {side}.",
        PARAMETERS, height=alt.Step(48 if count <= MAX_LABELLED else 20),
    )  # fmt: skip


def distribution(charts: ChartStyle, quantiles: list[Record]) -> Any:
    """Quantiles of the predictions per pair of groups: 1–99 %, 5–95 %, 25–75 % and the median."""
    alt, look = charts.alt, charts.look
    names = [f"q{100 * level:g}" for level in LEVELS]
    found = (
        alt.Chart(alt.InlineData(values=quantiles))
        .transform_filter(CHOSEN)
        .transform_flatten(["pair", "over", *names])
        .transform_calculate(side="datum.method == after ? 'after' : 'before'", which="datum.over")
        .transform_filter("datum.which == over")
    )
    axis = alt.Axis(
        values=[logit(p) for p in TICKS],
        labelExpr=PROBABILITY,
        title=None,
        labelOverlap="greedy",
        labelSeparation=8,
        grid=True,
    )
    wide = {"scale": alt.Scale(zero=False, nice=False, padding=8), "axis": axis}
    room = alt.ExprRef("containerSize()[0] < 500 ? 150 : 230")
    y = alt.Y("pair:N", axis=alt.Axis(title=None, labelLimit=room), sort=None)
    sides = alt.YOffset("side:N", sort=["before", "after"], scale=alt.Scale(paddingOuter=0.25))
    color = alt.Color(
        "side:N", scale=alt.Scale(domain=["before", "after"], range=[look.dim, look.accent]),
        legend=alt.Legend(title=None, orient="top", labelColor=look.ink),
    )  # fmt: skip
    for name in names:
        found = found.transform_calculate(**{f"p{name[1:]}": f"1 / (1 + exp(-datum['{name}']))"})
    tips = [alt.Tooltip("method:N"), alt.Tooltip("pair:N")]
    tips += [
        alt.Tooltip(f"p{q}:Q", title=f"{q} %", format=".4~g") for q in (1, 5, 25, 50, 75, 95, 99)
    ]
    shared = {"y": y, "yOffset": sides, "color": color, "tooltip": tips}

    def between(mark: Any, low: str, high: str) -> Any:
        return mark.encode(x=alt.X(f"{low}:Q", **wide), x2=f"{high}:Q", **shared)

    layers = [
        between(found.mark_rule(strokeWidth=1.5), "q1", "q99"),
        between(found.mark_bar(height=5, opacity=0.45), "q5", "q95"),
        between(found.mark_bar(height=11, cornerRadius=2), "q25", "q75"),
        found.mark_tick(thickness=2.5, size=15, color=look.on_accent).encode(
            x=alt.X("q50:Q", **wide), y=y, yOffset=sides, tooltip=tips
        ),
    ]
    title = (
        "['→ prediction of ' + (over == 'links' ? 'true links' : 'held-out pairs') + "
        "', log odds scale', before + ' → ' + after]"
    )
    return charts.finish(
        alt.layer(*layers), title, "Quantiles of the predictions per pair of groups.",
        PARAMETERS, height=alt.Step(19),
    )  # fmt: skip


def training(charts: ChartStyle, epochs: list[Record]) -> Any:
    """Loss, gap or divergence by epoch, means over the seeds."""
    alt = charts.alt
    found = (
        alt.Chart(alt.InlineData(values=epochs))
        .transform_filter(f"(seed == 'all' || datum.seed == seed) && {VISIBLE}")
        .transform_flatten(["epoch", "loss", "gap", "kl"])
        .transform_calculate(value="datum[curve]")
        .transform_filter("isValid(datum.value)")
        .transform_aggregate(value="mean(value)", groupby=["method", "model", "criterion", "epoch"])
    )
    line = found.mark_line(strokeWidth=2, cursor="pointer").encode(
        alt.X("epoch:Q", axis=alt.Axis(title=None, tickCount=6), scale=alt.Scale(nice=False)),
        alt.Y("value:Q", axis=alt.Axis(title=None, tickCount=6), scale=alt.Scale(zero=False)),
        charts.color(), charts.per_criterion("dash", DASHES), detail="method:N",
        opacity=charts.faint(),
        tooltip=["method:N", "epoch:Q", alt.Tooltip("value:Q", format=".4~g")],
    )  # fmt: skip
    names = (
        "{loss: 'loss in training', gap: 'largest gap of the criterion', "
        "kl: 'distance to parity, nats per pair'}"
    )
    return charts.finish(
        alt.layer(line), f"['↑ ' + {names}[curve], '→ epoch']", "Training of every method.",
        ("dataset", "seed", "curve", "hidden", "followed"), height=260,
    )  # fmt: skip
