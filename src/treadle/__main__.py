"""``python -m treadle``: the command line."""

import sys

from treadle.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
