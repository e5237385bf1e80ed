"""``python -m spam_core``: the command line."""

import sys

from spam_core.cli import main

if __name__ == "__main__":
    sys.exit(main())
