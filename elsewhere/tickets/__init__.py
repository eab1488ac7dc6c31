"""Tickets (lesson 14): steps wait in a SQLite file, and executors in other processes claim them.

`ClusterPool(Tickets(file))` writes each step into the file as a ticket. ``python -m elsewhere.tickets FILE NAME [TOOL ...]`` starts
an executor that claims tickets, of these tools or of all. `handles` keeps big results on the workers.
``elsewhere/dbos_tickets.py`` has the same queue on DBOS, which also works on Postgres.
"""

from elsewhere.tickets.handles import Folder, Handles
from elsewhere.tickets.queue import Ticket, Tickets, TicketsError, claim_tickets

__all__ = ["Folder", "Handles", "Ticket", "Tickets", "TicketsError", "claim_tickets"]
