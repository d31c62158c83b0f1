"""Newton's method on the dual of the I-projection, from sums per cell alone."""

from linkparity.projection.solver.problem import Infeasible, NotConverged, Problem, Solution

__all__ = ["Infeasible", "NotConverged", "Problem", "Solution"]
