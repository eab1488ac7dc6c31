import unittest

from shop import auth


class Sessions(unittest.TestCase):
    def test_a_session_belongs_to_its_user(self):
        assert auth.user_of(auth.log_in("ada", "engine")) == "ada"

    def test_a_wrong_password_gives_no_session(self):
        assert auth.log_in("ada", "machine") is None
        assert auth.log_in("nobody", "") is None

    def test_an_unknown_session_belongs_to_nobody(self):
        assert auth.user_of("1234") is None

    def test_a_session_ends_when_the_user_logs_out(self):
        session = auth.log_in("alan", "machine")
        auth.log_out(session)
        assert auth.user_of(session) is None
