"""`python -m npp_env` is `npp-env`."""

import sys

from npp_env.cli import main

sys.exit(main())
