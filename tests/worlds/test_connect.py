"""`connect`: scripted without a setting, a real endpoint with one, and a clear error otherwise."""

import socket

import openai
import pytest

from planexec_lab.connect import connect
from planexec_lab.worlds import arithmetic
from planexec_lite import LLMPlanner
from planexec_lite.assembly import Board


@pytest.fixture(autouse=True)
def no_setting(monkeypatch):
    for name in ("PLANEXEC_LLM", "PLANEXEC_PLANNER_MODEL", "OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)


def test_without_a_setting_a_genuine_client_needs_no_key_and_no_network(monkeypatch):
    def refuse(*_):
        raise AssertionError("the network was reached")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    client = connect("arithmetic")
    assert isinstance(client, openai.OpenAI)
    assert LLMPlanner(client).plan(arithmetic.GOAL, Board(), arithmetic.TOOLS).steps


def test_openai_gives_a_plain_client(monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", "openai")
    monkeypatch.setenv("OPENAI_API_KEY", "test")
    assert connect("deploy").base_url == openai.OpenAI(api_key="test").base_url


def test_a_url_gives_a_client_of_that_endpoint(monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")
    assert str(connect("deploy").base_url) == "http://127.0.0.1:9/v1/"


def test_the_name_of_the_model_comes_from_the_environment(monkeypatch):
    assert LLMPlanner(None).model == "gpt-4o"
    monkeypatch.setenv("PLANEXEC_PLANNER_MODEL", "llama-9")
    assert LLMPlanner(None).model == "llama-9"
    assert LLMPlanner(None, "mine").model == "mine"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("deplay",), "did you mean 'deploy'"),
        (("deploy", "scene"), "did you mean 'scenes'"),
        (("x",), "there are: arith"),
    ],
)
def test_an_unknown_world_or_script_is_named_with_the_known_ones(arguments, message):
    with pytest.raises(ValueError, match=message):
        connect(*arguments)


def test_an_unknown_setting_is_named(monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", "opena")
    with pytest.raises(ValueError, match="PLANEXEC_LLM='opena'"):
        connect("deploy")


def test_an_empty_key_is_no_key(monkeypatch):
    monkeypatch.setenv("PLANEXEC_LLM", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("OPENAI_API_KEY", "")
    assert connect("deploy").api_key == "none"
