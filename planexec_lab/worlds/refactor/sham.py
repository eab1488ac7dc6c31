"""Tests that test nothing: a step could write them over the tests of the endpoints."""

EMPTY_TESTS = """import unittest


class Endpoints(unittest.TestCase):
    def test_1(self): pass
    def test_2(self): pass
    def test_3(self): pass
    def test_4(self): pass
    def test_5(self): pass
    def test_6(self): pass
"""
