"""Ports: the user's own, or the next free one."""

import socket

import pippin
import pytest
from pippin_view.viser.ports import FIRST_PORT, HOST, free_port


def test_a_free_port_of_the_user_is_taken():
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]

    assert free_port(port, "port") == port


def test_a_port_that_is_in_use_is_refused():
    with socket.create_server((HOST, 0)) as server:
        port = server.getsockname()[1]

        with pytest.raises(pippin.ConfigError, match=f"here: port {port} of 127.0.0.1 cannot be used"):
            free_port(port, "here")


def test_without_a_choice_the_next_free_port_is_taken():
    port = free_port(None, "port")
    with socket.create_server((HOST, port)):
        later = free_port(None, "port")

    assert later > port >= FIRST_PORT
