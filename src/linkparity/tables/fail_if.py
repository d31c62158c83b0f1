"""``--fail-if``: conditions on measures that make an audit fail."""

import operator
import re
from dataclasses import dataclass
from math import isnan

from linkparity.metrics.cell_means import VIEWS
from linkparity.metrics.measures import TABLE_MEASURES, VIEW_MEASURES
from linkparity.support.errors import InputError
from linkparity.support.registry import did_you_mean
from linkparity.tables.audit_table import Audit

SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
PATTERN = re.compile(r"\s*(?:([\w-]+)\.)?([\w-]+)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*")


@dataclass(frozen=True)
class Gate:
    """A condition such as ``dp>0.05`` or ``group.eo>0.1``; an audit for which it holds fails."""

    text: str
    view: str | None
    measure: str
    sign: str
    limit: float

    def judge(self, audit: Audit) -> str | None:
        """Why the audit fails, or None; an undefined measure fails too."""
        if self.view is None:
            value, reason = audit.values[self.measure], audit.reasons.get(self.measure, "")
        else:
            estimate = audit.views[self.view][self.measure]
            value, reason = estimate.value, estimate.reason
        name = self.measure if self.view is None else f"{self.view}.{self.measure}"
        if isnan(value):
            return f"{name} is undefined ({reason}), so {self.text!r} cannot be judged"
        if SIGNS[self.sign](value, self.limit):
            shown = f"{value:.6g}"
            shown = shown if float(shown) != self.limit else repr(value)
            return f"{name} is {shown}, and the gate is {self.text!r}"
        return None


def read_gates(texts: list[str]) -> tuple[Gate, ...]:
    """Parse conditions, each text one or several with commas.

    >>> read_gates(["dp>0.05, auc<0.7"])[1].limit
    0.7
    """
    return tuple(_read(part.strip()) for text in texts for part in text.split(","))


def _read(text: str) -> Gate:
    found = PATTERN.fullmatch(text)
    try:
        limit = float(found[4]) if found else None
    except ValueError:
        limit = None
    if not found or limit is None:
        fix = 'write a measure, a sign and a number, such as "dp>0.05"'
        raise InputError(f"cannot be parsed: {text!r}", fix, argument="fail_if")
    view, measure, sign = found[1], found[2], found[3]
    if view is not None:
        _check_known("view", view, list(VIEWS))
    _check_known("measure", measure, list(TABLE_MEASURES if view is None else VIEW_MEASURES))
    return Gate(text, view, measure, sign, limit)


def _check_known(kind: str, name: str, known: list[str]) -> None:
    if name not in known:
        fix = f"{did_you_mean(name, known)}known: {', '.join(known)}"
        raise InputError(f"has an unknown {kind} {name!r}", fix, argument="fail_if")
