import unittest

from shop import endpoints, web


class Endpoints(unittest.TestCase):
    def setUp(self):
        answer = web.call("POST", "/login", body={"name": "ada", "password": "engine"})
        self.session = answer.cookies["session"]

    def ask(self, method, path, status=200):
        answer = web.call(method, path, cookies={"session": self.session})
        assert answer.status == status, f"{method} {path} answers {answer.status}"
        return answer.body

    def test_a_wrong_password_is_refused(self):
        assert web.call("POST", "/login", body={"name": "ada", "password": "machine"}).status == 401

    def test_profile(self):
        assert self.ask("GET", "/profile") == {"name": "ada"}

    def test_orders(self):
        assert self.ask("GET", "/orders") == endpoints.ORDERS["ada"]

    def test_settings(self):
        assert self.ask("GET", "/settings") == {"currency": "GBP"}

    def test_logout(self):
        self.ask("POST", "/logout", status=204)

    def test_strangers_are_refused(self):
        for path in ("/profile", "/orders", "/settings"):
            assert web.call("GET", path).status == 401, f"GET {path} lets a stranger in"
