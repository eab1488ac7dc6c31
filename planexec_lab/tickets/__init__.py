"""Tickets (lesson 14): steps wait in a SQLite file, and executors in other processes claim them.

`Pool(Tickets(file))` writes each step into the file as a ticket. ``python -m planexec_lab.tickets FILE NAME [TOOL ...]`` starts an
executor that claims tickets, of these tools or of all. `handles` keeps big results on the workers.
``elsewhere/dbos_tickets.py`` has the same queue on DBOS, which also works on Postgres.
"""

from planexec_lab.tickets.handles import Folder, Handles
from planexec_lab.tickets.queue import Ticket, Tickets, TicketsError, claim_tickets

__all__ = ["Folder", "Handles", "Ticket", "Tickets", "TicketsError", "claim_tickets"]
