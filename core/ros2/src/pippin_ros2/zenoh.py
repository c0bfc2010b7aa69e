"""Topics by Zenoh, with `eclipse-zenoh`, in the keys, tokens and attachments of `rmw_zenoh`."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
import struct
import time
from collections.abc import Callable
from typing import Any

import attrs
from attrs.validators import ge
from pippin import ConfigError
from pippin.extras import import_library

from .messages import dds_name, hashes
from .wire import Reliability, Wire

_TAKE = 100

_QUALITY = {"reliable": "::,10:,:,:,,", "best-effort": "2::,10:,:,:,,"}
"""Quality of service in a token: what differs from the defaults, and the depth."""


@attrs.frozen(kw_only=True, slots=False)
class ZenohSettings:
    """Settings of the programs that are reached."""

    domain: int = attrs.field(default=0, validator=ge(0))
    """Number of the domain; only programs of the same one see each other."""

    network: bool = False
    """Whether other machines may be reached; without it, only programs of this machine."""

    endpoint: str = "tcp/127.0.0.1:7447"
    """Where the router is, by which programs find each other."""

    router: bool = False
    """Whether this is the router, too, at the endpoint; without it, `rmw_zenohd` or another one must run."""

    def __attrs_post_init__(self) -> None:
        if not self.network and not re.match(r"\w+/(127\.|localhost:|\[::1\])", self.endpoint):
            raise ValueError(f"'endpoint' is {self.endpoint!r}, another machine; give it with 'network = true'")


class ZenohWire(Wire):
    """A session; `node` is its name for tools of ROS.

    Raises:
        ConfigError: The endpoint cannot be had.
        PluginError: `eclipse-zenoh` is not installed.
    """

    def __init__(self, config: ZenohSettings, node: str) -> None:
        self._library = import_library("zenoh", "zenoh", "pippin-ros2")
        own = "tcp/[::]:0" if config.network else "tcp/127.0.0.1:0"
        mode, connect, listen = ("router", [], config.endpoint) if config.router else ("peer", [config.endpoint], own)
        settings = self._library.Config()
        keys = {"mode": mode, "connect/endpoints": connect, "listen/endpoints": [listen]}
        for key, value in (keys | {"scouting/multicast/enabled": False}).items():
            settings.insert_json5(key, json.dumps(value))
        try:
            self._session: Any = self._library.open(settings)
        except self._library.ZError as error:
            raise ConfigError(f"robot.endpoint: {config.endpoint!r} cannot be had: {error}; change it") from error
        self._domain, self._node, self._numbers = config.domain, node, itertools.count(10)
        self.address = f"domain {config.domain} of Zenoh, {mode} {'at' if config.router else 'by'} {config.endpoint}"
        self._kept = [self._session.liveliness().declare_token(self._token(0, "NN"))]

    def writer(self, topic: str, kind: str) -> Callable[[bytes | bytearray], None]:
        """Return a function that publishes."""
        publisher = self._session.declare_publisher(self._key(topic, kind))
        token = self._topic_token("MP", topic, kind, "reliable")
        gid = hashlib.blake2b(token.encode(), digest_size=16).digest()
        counter = itertools.count(1)
        self._kept += [publisher, self._session.liveliness().declare_token(token)]

        def write(data: bytes | bytearray) -> None:
            publisher.put(bytes(data), attachment=attachment(next(counter), time.time_ns(), gid))

        return write

    def reader(self, topic: str, kind: str, reliability: Reliability = "reliable") -> Callable[[], list[bytes]]:
        """Return a function that takes what has come."""
        ring = self._library.handlers.RingChannel(_TAKE)
        subscriber = self._session.declare_subscriber(self._key(topic, kind), ring)
        token = self._topic_token("MS", topic, kind, reliability)
        self._kept += [subscriber, self._session.liveliness().declare_token(token)]

        return lambda: [sample.payload.to_bytes() for sample in iter(subscriber.try_recv, None)]

    def _key(self, topic: str, kind: str) -> str:
        return f"{self._domain}/{topic.strip('/')}/{dds_name(kind)}/{hashes()[kind]}"

    def _token(self, number: int, role: str) -> str:
        return f"@ros2_lv/{self._domain}/{self._session.zid()}/0/{number}/{role}/%/%/{self._node}"

    def _topic_token(self, role: str, topic: str, kind: str, reliability: Reliability) -> str:
        name = topic.replace("/", "%")
        end = f"{name}/{dds_name(kind)}/{hashes()[kind]}/{_QUALITY[reliability]}"
        return f"{self._token(next(self._numbers), role)}/{end}"

    def close(self) -> None:
        """End the session."""
        self._kept.clear()
        self._session.close()


def attachment(number: int, nanoseconds: int, gid: bytes) -> bytes:
    """Return what goes with each message: its number from 1 on, its time [ns], and 16 bytes that name who sends it."""
    form = "<B15sqB16sqB10sB16s"
    return struct.pack(
        form, 15, b"sequence_number", number, 16, b"source_timestamp", nanoseconds, 10, b"source_gid", 16, gid
    )
