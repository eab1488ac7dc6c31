"""The endpoints of the shop."""

from shop import auth
from shop.web import Response, endpoint

ORDERS = {"ada": [1, 3], "alan": [2]}
CURRENCY = {"ada": "GBP", "alan": "EUR"}


@endpoint("POST", "/login")
def login(request):
    """Let a user in."""
    session = auth.log_in(request.body.get("name", ""), request.body.get("password", ""))
    if session is None:
        return Response(401, "wrong name or password")
    return Response(200, cookies={"session": session})


@endpoint("GET", "/profile")
def profile(request):
    """Say who is logged in."""
    user = auth.user_of(request.cookies.get("session", ""))
    if user is None:
        return Response(401, "log in first")
    return Response(200, {"name": user})


@endpoint("GET", "/orders")
def orders(request):
    """List the user's orders."""
    user = auth.user_of(request.cookies.get("session", ""))
    if user is None:
        return Response(401, "log in first")
    return Response(200, ORDERS[user])


@endpoint("GET", "/settings")
def settings(request):
    """Show the user's settings."""
    user = auth.user_of(request.cookies.get("session", ""))
    if user is None:
        return Response(401, "log in first")
    return Response(200, {"currency": CURRENCY[user]})


@endpoint("POST", "/logout")
def logout(request):
    """Let a user go."""
    auth.log_out(request.cookies.get("session", ""))
    return Response(204)
