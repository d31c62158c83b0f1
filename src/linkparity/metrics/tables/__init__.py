"""Tables of scores: audited, corrected, in files of any size or in memory."""

from linkparity.metrics.tables.api import audit, project

__all__ = ["audit", "project"]
