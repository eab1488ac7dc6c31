"""Tickets (lesson 14): steps wait in a SQLite file, and executors in other processes claim them.

`Pool(Tickets(file))` writes each step into the file as a ticket. ``python -m planexec_lab.tickets FILE NAME [TOOL ...]`` starts an
executor that claims tickets, of these tools or of all. `on_dbos` has the same on DBOS, which also works on Postgres.
"""

from planexec_lab.tickets.queue import Ticket, Tickets, claim_tickets

__all__ = ["Ticket", "Tickets", "claim_tickets"]
