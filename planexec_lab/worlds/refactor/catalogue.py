"""Two hundred tools of twenty services, and requests with the tool that each of them means."""

from __future__ import annotations

from planexec_lite.tools import Tool

_SERVICES = (
    "github issues", "jira tickets", "slack messages", "mail drafts", "calendar events", "drive files", "crm contacts",
    "billing invoices", "payments refunds", "shop orders", "stock items", "hr leaves", "wiki pages", "monitor alerts",
    "deploy releases", "database tables", "cloud servers", "survey answers", "travel bookings", "support cases",
)  # fmt: skip
_VERBS = {
    "list": "List all {things} that match a filter.",
    "get": "Get one of the {things} by its id.",
    "create": "Create one of the {things}.",
    "update": "Change fields of one of the {things}.",
    "delete": "Delete one of the {things} for good.",
    "search": "Search the {things} for a text.",
    "share": "Share one of the {things} with a person.",
    "assign": "Assign one of the {things} to a person.",
    "export": "Export the {things} as a table.",
    "archive": "Archive one of the {things}; it can be brought back.",
}
REQUESTS = {
    "create a ticket in jira": "jira_create_tickets",
    "delete the invoice in billing": "billing_delete_invoices",
    "search slack for messages about lunch": "slack_search_messages",
    "assign the support case to Ada": "support_assign_cases",
    "export all orders of the shop": "shop_export_orders",
    "archive old wiki pages": "wiki_archive_pages",
    "share the drive file with Alan": "drive_share_files",
    "update the crm contact of Ben": "crm_update_contacts",
    "get the cloud server by its id": "cloud_get_servers",
    "list the alerts of the monitor": "monitor_list_alerts",
    "open a bug on github": "github_create_issues",
    "give the customer her money back": "payments_create_refunds",
    "book a train to Lisbon": "travel_create_bookings",
    "roll out version 2": "deploy_create_releases",
    "who is on holiday next week": "hr_list_leaves",
    "move the meeting with Ada": "calendar_update_events",
}


def tools() -> list[Tool]:
    """The tools, service by service."""
    named = [service.split() for service in _SERVICES]
    return [_tool(service, verb, things) for service, things in named for verb in _VERBS]


def _tool(service: str, verb: str, things: str) -> Tool:
    def call(query: str, limit: int = 10) -> str:
        return f"{service}: {query} ({limit})"

    words = _VERBS[verb].replace("{things}", f"{things} in {service}")
    arguments = "query: a text or an id\n        limit: the most results"
    call.__name__ = f"{service}_{verb}_{things}"
    call.__doc__ = f"{words}\n\n    Args:\n        {arguments}\n    "
    return Tool(call, effects="none" if verb in ("list", "get", "search", "export") else "unknown")
