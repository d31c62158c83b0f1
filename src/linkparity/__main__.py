"""``python -m linkparity`` is the command ``linkparity``."""

from linkparity.cli import main

if __name__ == "__main__":
    main()
