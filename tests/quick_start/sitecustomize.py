"""Let Jupyter's packages be imported without the grammar of international web addresses, which takes seconds to build,
and without the library for spans of time.

Python imports a module of this name by itself when it starts, so with this folder on PYTHONPATH each process of a test run
starts quickly. jsonschema takes both packages as options; no notebook has a field that they would check.
"""

import sys

for name in ("rfc3987_syntax", "isoduration"):
    sys.modules[name] = None  # type: ignore[assignment]  # an import of it raises ImportError
