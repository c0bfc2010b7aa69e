"""Ports of this machine for the page of a simulation."""

from __future__ import annotations

import socket

from pippin import ConfigError

HOST = "127.0.0.1"
"""Address of the page: only programs on this machine reach it."""

FIRST_PORT = 8080
"""The port to try first if the user names none."""

_TRIED = 1000
"""Number of ports to try."""


def free_port(port: int | None, where: str) -> int:
    """Return a port that nobody listens on: the one that the user asked for, else the first free one from 8080."""
    if port is not None:
        if fault := _fault(port):
            raise ConfigError(
                f"{where}: port {port} of {HOST} cannot be used ({fault}); choose another one, or leave the key out"
                " for the next free one"
            )
        return port
    for port in range(FIRST_PORT, FIRST_PORT + _TRIED):
        if _fault(port) is None:
            return port
    raise ConfigError(f"{where}: no free port from {FIRST_PORT} to {FIRST_PORT + _TRIED - 1}; write one that is free")


def _fault(port: int) -> str | None:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        # Connections that were closed a moment ago do not keep the port; a listener does.
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            return (error.strerror or str(error)).lower()
    return None
