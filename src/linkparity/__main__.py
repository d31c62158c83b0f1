"""``python -m linkparity`` is the command ``linkparity``."""

from linkparity.cli import main

main()
