"""date, with a single form: the day of the world as +FORMAT says, so that a lesson prints the same on every day."""

import os
import sys
from datetime import datetime

if len(sys.argv) != 2 or not sys.argv[1].startswith("+"):
    sys.exit("date: this stand-in knows date +FORMAT only")
print(datetime.fromisoformat(os.environ["DAY"]).strftime(sys.argv[1][1:]))
