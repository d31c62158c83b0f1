"""``--fail-if``: conditions on measures that make an audit fail."""

import operator
import re
from dataclasses import dataclass
from math import isnan, nan

from linkparity.metrics.cell_means import VIEWS
from linkparity.metrics.measures import MEASURES, TABLE_MEASURES, VIEW_MEASURES
from linkparity.metrics.tables.audit_table import Audit
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean

SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
PATTERN = re.compile(r"\s*([\w.-]+?)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*")
#: What of a measure is compared, besides its value.
PARTS = ("upper", "change")
GRAMMAR = "[view.]measure[.upper|.change], a sign and a number"


@dataclass(frozen=True)
class Gate:
    """A condition such as ``dp>0.05`` or ``group.eo.upper>0.1``; if it holds, the audit fails.

    Attributes:
        text: as it was given.
        view: None for the measures of the audit itself.
        measure: name.
        part: ``upper`` for the upper end of the interval, ``change`` for the change against another
            table; None for the value.
        sign: of the comparison.
        limit: what is compared with.
    """

    text: str
    view: str | None
    measure: str
    part: str | None
    sign: str
    limit: float

    @property
    def name(self) -> str:
        """What is compared."""
        return ".".join(filter(None, (self.view, self.measure, self.part)))

    def judge(self, audit: Audit) -> str | None:
        """Why the audit fails, or None; an undefined number fails too."""
        value, reason = self._value(audit)
        if isnan(value):
            return f"{self.name} is undefined ({reason}), so {self.text!r} cannot be judged"
        if SIGNS[self.sign](value, self.limit):
            shown = f"{value:.6g}"
            shown = shown if float(shown) != self.limit else repr(value)
            return f"{self.name} is {shown}, and the gate is {self.text!r}"
        return None

    def _value(self, audit: Audit) -> tuple[float, str]:
        """The number that is compared, and why it is undefined."""
        if self.part == "change":
            assert audit.change is not None
            reason = "it is undefined in one of the tables"
            if self.view is None:
                return audit.change.values[self.measure], reason
            return audit.change.views[self.view][self.measure].value, reason
        if self.view is None:
            value, ends = audit.values[self.measure], audit.intervals.get(self.measure)
            reasons = (audit.reasons.get(key) for key in (self.measure, f"{self.measure} interval"))
            reason = next(filter(None, reasons), "")
        else:
            estimate = audit.views[self.view][self.measure]
            value, ends, reason = estimate.value, estimate.interval, estimate.reason
        if self.part is None:
            return value, reason
        return (nan, reason or "no intervals were asked for") if ends is None else (ends[1], reason)


def read_gates(texts: list[str], changes: bool = False) -> tuple[Gate, ...]:
    """Parse conditions, each text one or several with commas.

    Args:
        texts: as given.
        changes: whether the audit compares two tables, so that there are changes.

    >>> read_gates(["dp>0.05, group.dp.upper<0.7"])[1].limit
    0.7
    """
    return tuple(_read(part.strip(), changes) for text in texts for part in text.split(","))


def _read(text: str, changes: bool) -> Gate:
    found = PATTERN.fullmatch(text)
    try:
        limit = float(found[3]) if found else None
    except ValueError:
        limit = None
    names = found[1].split(".") if found else []
    part = names.pop() if len(names) > 1 and names[-1] in PARTS else None
    twice = part is not None and names[-1] in PARTS
    if not found or limit is None or len(names) > 2 or twice:
        fix = f'write {GRAMMAR}, such as "dp>0.05" or "group.dp.upper>0.1"'
        raise InputError(f"cannot be parsed: {text!r}", fix, argument="fail_if")
    if len(names) == 2 and names[0] in TABLE_MEASURES:
        _check_known(f"part of {names[0]}", names[1], list(PARTS))
    view, measure = names[0] if len(names) == 2 else None, names[-1]
    if view is not None:
        _check_known("view", view, list(VIEWS))
    _check_known("measure", measure, list(TABLE_MEASURES if view is None else VIEW_MEASURES))
    if part == "upper" and not MEASURES[measure].has_interval:
        fix = f"compare its value, {measure}{found[2]}{found[3]}"
        raise InputError(f"has {text!r}, but {measure} has no interval", fix, argument="fail_if")
    if part == "change" and not changes:
        fix = "give the other one with {compare=}"
        raise InputError(f"has {text!r}, which needs two tables", fix, argument="fail_if")
    return Gate(text, view, measure, part, found[2], limit)


def _check_known(kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        fix = f"{did_you_mean(name, known)}known: {', '.join(known)}"
        raise InputError(f"has an unknown {kind} {name!r}", fix, argument="fail_if")
