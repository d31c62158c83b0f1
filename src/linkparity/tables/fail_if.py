"""``--fail-if``: a sentence about a measure that makes an audit a gate."""

import operator
import re
from dataclasses import dataclass
from math import isnan

from linkparity.metrics.measures import TABLE_MEASURES, VIEW_MEASURES
from linkparity.metrics.views import VIEWS
from linkparity.support.registry import nearest
from linkparity.tables.audit_table import Audit

SIGNS = {">=": operator.ge, "<=": operator.le, ">": operator.gt, "<": operator.lt}
PATTERN = re.compile(r"\s*(?:([\w-]+)\.)?([\w-]+)\s*(>=|<=|>|<)\s*([-+.\deE]+)\s*")


@dataclass(frozen=True)
class Gate:
    """Fail when the measure stands so to the limit, as in ``dp>0.05`` or ``group.eo>0.1``."""

    text: str
    view: str | None
    measure: str
    sign: str
    limit: float

    def judge(self, audit: Audit) -> str | None:
        """Why the audit fails, or None; the point estimate counts, and an undefined one fails."""
        if self.view is None:
            value, reason = audit.values[self.measure], audit.reasons.get(self.measure, "")
        else:
            estimate = audit.views[self.view][self.measure]
            value, reason = estimate.value, estimate.reason
        name = self.measure if self.view is None else f"{self.view}.{self.measure}"
        if isnan(value):
            return f"{name} is undefined ({reason}), so {self.text!r} cannot be judged"
        if SIGNS[self.sign](value, self.limit):
            told = f"{value:.6g}"
            told = told if float(told) != self.limit else repr(value)
            return f"{name} is {told}, and the gate is {self.text!r}"
        return None


def read_gates(texts: list[str]) -> tuple[Gate, ...]:
    """Gates as typed, one or several with commas.

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
        raise ValueError(
            f"--fail-if: cannot read {text!r}; write a measure, a sign and a number, "
            'such as "dp>0.05"'
        )
    view, measure, sign = found[1], found[2], found[3]
    if view is not None and view not in VIEWS:
        hint = nearest(view, list(VIEWS))
        raise ValueError(f"--fail-if: unknown view {view!r}{hint} known: {', '.join(VIEWS)}")
    known = TABLE_MEASURES if view is None else VIEW_MEASURES
    if measure not in known:
        hint = nearest(measure, list(known))
        raise ValueError(f"--fail-if: unknown measure {measure!r}{hint} known: {', '.join(known)}")
    return Gate(text, view, measure, sign, limit)
