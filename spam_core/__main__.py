"""Entry of ``python -m spam_core``."""

import os

# Before torch is loaded: threads that spin while they wait take the cores from those
# that work, which on a busy machine makes a fit several times slower.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

from spam_core.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
