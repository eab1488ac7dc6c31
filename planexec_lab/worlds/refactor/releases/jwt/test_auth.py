import unittest

from shop import auth, tokens


class Tokens(unittest.TestCase):
    def test_a_token_belongs_to_its_user(self):
        assert auth.user_of(auth.log_in("ada", "engine")) == "ada"

    def test_a_wrong_password_gives_no_token(self):
        assert auth.log_in("ada", "machine") is None
        assert auth.log_in("nobody", "") is None

    def test_a_token_that_was_changed_belongs_to_nobody(self):
        head, _, signature = auth.log_in("ada", "engine").split(".")
        _, claims, _ = auth.log_in("alan", "machine").split(".")
        assert auth.user_of(f"{head}.{claims}.{signature}") is None

    def test_a_token_of_another_key_belongs_to_nobody(self):
        token = auth.log_in("ada", "engine")
        self.set(tokens, "KEY", b"another key")
        assert auth.user_of(token) is None

    def test_a_token_expires(self):
        self.set(auth, "clock", lambda: 1000)
        token = auth.log_in("ada", "engine")
        later = 1000 + 60 * tokens.SCHEMA["minutes"]
        self.set(auth, "clock", lambda: later - 1)
        assert auth.user_of(token) == "ada"
        self.set(auth, "clock", lambda: later)
        assert auth.user_of(token) is None

    def set(self, module, name, value):
        self.addCleanup(setattr, module, name, getattr(module, name))
        setattr(module, name, value)
