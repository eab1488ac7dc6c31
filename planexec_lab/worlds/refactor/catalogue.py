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
}
OTHER_WORDS = {
    "open a bug on github": "github_create_issues",
    "what is still broken in the repository": "github_list_issues",
    "close the old bug reports but keep them": "github_archive_issues",
    "let Mary take over the Jira task": "jira_assign_tickets",
    "where did we write about the outage in the chat": "slack_search_messages",
    "remove my post from the channel": "slack_delete_messages",
    "write a letter to the bank, but don't send it": "mail_create_drafts",
    "throw the unfinished email away": "mail_delete_drafts",
    "move the meeting with Ada": "calendar_update_events",
    "put lunch with Alan into my agenda": "calendar_create_events",
    "give Ben access to the slides": "drive_share_files",
    "what is the phone number of client 17": "crm_get_contacts",
    "add the person from the fair as a lead": "crm_create_contacts",
    "give the customer her money back": "payments_create_refunds",
    "which purchases came in today": "shop_list_orders",
    "show purchase 4711": "shop_get_orders",
    "the warehouse now has 12 chairs": "stock_update_items",
    "a spreadsheet of what is in the warehouse": "stock_export_items",
    "who is on holiday next week": "hr_list_leaves",
    "I am ill tomorrow, note it": "hr_create_leaves",
    "fix a typo in the handbook": "wiki_update_pages",
    "which alarms went off last night": "monitor_list_alerts",
    "make the alarm someone's job": "monitor_assign_alerts",
    "roll out version 2": "deploy_create_releases",
    "start a new machine": "cloud_create_servers",
    "turn the old machine off for ever": "cloud_delete_servers",
    "what did people say about the price in the poll": "survey_search_answers",
    "book a train to Lisbon": "travel_create_bookings",
    "I can't fly; cancel the trip": "travel_delete_bookings",
    "give the angry caller's complaint to the manager": "support_assign_cases",
}
"""The same kind of request from people who don't know the catalogue. 24 of the 30 were written before any search was tried."""


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
