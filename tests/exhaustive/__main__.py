"""Walk every run of every plan with up to SIZE steps, and print the numbers: python -m tests.exhaustive [SIZE]"""

import sys
from time import perf_counter

from tests.exhaustive.walk import CRASHES, KINDS, graphs, told, walked

for size in range(1, int(sys.argv[1] if len(sys.argv) > 1 else 3) + 1):
    for kind in (*KINDS, *CRASHES):
        began = perf_counter()
        walks = walked(graphs(size), kind)
        print(f"{size} steps, {kind}: {told(walks)}; {perf_counter() - began:.1f} s", flush=True)
