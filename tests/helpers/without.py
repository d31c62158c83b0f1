"""Processes in which packages are not installed, as far as Python can tell."""

import subprocess
import sys

#: What a plain installation lacks.
EXTRAS = [
    "torch", "sklearn", "safetensors", "requests", "pandas", "altair", "vl_convert", "pyspark",
    "torch_geometric", "distributed",
]  # fmt: skip
START = """
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def __getattr__(self, name):
        return getattr(self.finder, name)

    def find_spec(self, name, path=None, target=None):
        absent = name.partition(".")[0] in {absent!r}
        return None if absent else self.finder.find_spec(name, path, target)

sys.meta_path[:] = [Without(finder) for finder in sys.meta_path]
"""


def run_without(absent, code, *arguments, cwd=None):
    """Run Python code in a process where the packages of ``absent`` cannot be found."""
    code = START.replace("{absent!r}", repr(set(absent))) + code
    command = [sys.executable, "-W", "error", "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=cwd)


def command_without(absent, *arguments, cwd=None):
    """Run the command ``linkparity`` in such a process."""
    code = "from linkparity.cli import main\nmain(sys.argv[1:])"
    return run_without(absent, code, *arguments, cwd=cwd)
