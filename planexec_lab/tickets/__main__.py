"""An executor that claims tickets: python -m planexec_lab.tickets FILE NAME [TOOL ...]"""

import sys

from planexec_lab.tickets import claim_tickets

if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit("usage: python -m planexec_lab.tickets FILE NAME [TOOL ...]")
    claim_tickets(sys.argv[1], sys.argv[2], sys.argv[3:], say=lambda line: print(line, flush=True))
