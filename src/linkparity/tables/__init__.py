"""Tables of scores: audited, corrected, in files of any size or in memory."""

from linkparity.tables.doors import audit, project

__all__ = ["audit", "project"]
