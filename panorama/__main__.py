"""`python -m panorama` is the command `panorama`."""

import sys

from panorama.cli.main import main

sys.exit(main())
