"""Topics by DDS, with `cyclonedds`: it carries bytes that are ready, and its own classes tell the types alone."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Callable
from typing import Any

import attrs
from attrs.validators import ge, le
from pippin import ConfigError
from pippin.extras import import_library

from .cdr import NUMBERS, Table, encode, fields
from .messages import dds_name, hashes
from .wire import Reliability, Wire

__all__ = ["DdsConfig", "DdsWire"]

_DEPTH, _TAKE = 10, 100
"""Messages that a writer and a reader keep."""

_LOOPBACK = """<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface address="127.0.0.1" multicast="true"/></Interfaces></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex><MaxAutoParticipantIndex>60</MaxAutoParticipantIndex>
<Peers><Peer address="127.0.0.1"/></Peers></Discovery></Domain></CycloneDDS>"""
"""This machine alone: by multicast, and by single packets for programs whose loopback has none."""

_ONE = """<CycloneDDS><Domain Id="any"><General><Interfaces>
<NetworkInterface name="{}"/></Interfaces></General></Domain></CycloneDDS>"""

_MODULES = ("core", "domain", "idl", "pub", "qos", "sub", "topic")


@functools.cache
def _joined(join: Any, number: int, settings: str) -> Any:
    """Return a domain, which a process can join once: its participants share it to the end of the process."""
    return join(number, settings)


@attrs.frozen(kw_only=True, slots=False)
class DdsConfig:
    """Settings of the programs that are reached."""

    domain: int = attrs.field(default=0, validator=[ge(0), le(232)])
    """Number of the domain; only programs of the same one see each other."""

    network: bool = False
    """Whether other machines may be reached; without it, only programs of this machine."""

    interface: str | None = None
    """Network interface, such as `eth0`; by default the choice of DDS and of `CYCLONEDDS_URI`. It needs `network`."""

    def __attrs_post_init__(self) -> None:
        if self.interface is not None and not self.network:
            raise ValueError(f"'interface' is {self.interface!r}, and needs 'network = true'")


class DdsWire(Wire):
    """A participant by a config, for the messages of a table; `node` is its name for tools of ROS, None without one.

    Raises:
        ConfigError: The domain cannot be joined.
        PluginError: `cyclonedds` is not installed.
    """

    def __init__(self, config: DdsConfig, table: Table, node: str | None = None) -> None:
        self._library = {name: import_library(f"cyclonedds.{name}", "dds", "pippin-ros2") for name in _MODULES}
        self._table, self._node, self._types = table, node, dict[str, Any]()
        self._writers, self._readers = list[Any](), list[Any]()
        where = config.interface or ("the network" if config.network else "this machine alone")
        self.address = f"domain {config.domain} of DDS, {where}"
        policy, qos = self._library["qos"].Policy, self._library["qos"].Qos
        user_data = None if node is None else qos(policy.Userdata(b"enclave=/;"))
        settings = os.environ.get("CYCLONEDDS_URI", "") if config.network else _LOOPBACK
        settings = _ONE.format(config.interface) if config.interface else settings
        try:
            _joined(self._library["domain"].Domain, config.domain, settings)
            self._participant: Any = self._library["domain"].DomainParticipant(config.domain, user_data)
        except self._library["core"].DDSException as error:
            raise ConfigError(
                f"robot.domain: {self.address} cannot be joined ({error}); name an interface that is up, and join a"
                " domain in one way in a program"
            ) from error

    def writer(self, topic: str, kind: str, is_kept: bool = False) -> Callable[[bytes | bytearray], None]:
        """Return a function that publishes a kind at a topic; if it `is_kept`, late readers are told the last one."""
        policy = self._library["qos"].Policy
        durability = policy.Durability.TransientLocal if is_kept else policy.Durability.Volatile
        history = policy.History.KeepLast(1 if is_kept else _DEPTH)
        writer = self._endpoint("pub", "DataWriter", topic, kind, policy.Reliability.Reliable(0), durability, history)
        number, sample = len(self._writers), writer.data_type.__new__(writer.data_type)
        self._writers.append(writer)
        fault = self._library["core"].DDSException

        def write(data: bytes | bytearray) -> None:
            sample.data = bytes(data)
            with contextlib.suppress(fault):  # a reader that is slow does not stop a robot
                self._writers[number].write(sample)

        return write

    def reader(self, topic: str, kind: str, reliability: Reliability = "reliable") -> Callable[[], list[bytes]]:
        """Return a function that takes what has come at a topic, of a kind, with a reliability."""
        policy = self._library["qos"].Policy
        how = policy.Reliability.Reliable(0) if reliability == "reliable" else policy.Reliability.BestEffort
        reader = self._endpoint("sub", "DataReader", topic, kind, how, policy.History.KeepLast(_TAKE))
        number, kept = len(self._readers), reader.topic.data_type
        self._readers.append(reader)
        return lambda: [each.data for each in self._readers[number].take(_TAKE) if isinstance(each, kept)]

    def _endpoint(self, module: str, name: str, topic: str, kind: str, *policies: Any) -> Any:
        own = self._library["qos"]
        if self._node is not None:
            policies += (own.Policy.Userdata(f"typehash={hashes()[kind]};".encode()),)
        topic = f"rt{topic}" if topic.startswith("/") else topic  # as ROS does
        found = self._library["topic"].Topic(self._participant, topic, self._type(kind, is_top=True))
        return getattr(self._library[module], name)(self._participant, found, own.Qos(*policies))

    def _type(self, kind: str, is_top: bool = False) -> Any:
        """Return the class of a message; that of a topic has bytes in place of fields."""
        idl, key = self._library["idl"], f"{kind}!" if is_top else kind
        if key in self._types:
            return self._types[key]
        made = idl.make_idl_struct(
            kind.rpartition("/")[2] + "_",
            dds_name(kind).replace("::", "."),
            {field: self._field(inner, count) for field, inner, count in fields(self._table[kind])},
        )
        idl.annotations.final(made)
        if is_top:
            made.serialize = lambda sample, **_: sample.data
            made.deserialize = classmethod(_sample)
        self._types[key] = made
        return made

    def _field(self, kind: str, count: int | None) -> Any:
        types = self._library["idl"].types
        own: dict[str, Any] = {"bool": bool, "string": str}
        element = own.get(kind) or (getattr(types, kind) if kind in NUMBERS else self._type(kind))
        if count is None:
            return element
        return types.array[element, count] if count else types.sequence[element]

    def announce(self) -> None:
        """Tell tools of ROS which node has which readers and writers; programs without it exchange messages, too."""
        if self._node is None:
            return
        write = self.writer("ros_discovery_info", "rmw_dds_common/ParticipantEntitiesInfo", is_kept=True)
        readers, writers = ([{"data": each.guid.bytes} for each in own] for own in (self._readers, self._writers[:-1]))
        node = {"node_namespace": "/", "node_name": self._node, "reader_gid_seq": readers, "writer_gid_seq": writers}
        message = {"gid": {"data": self._participant.guid.bytes}, "node_entities_info_seq": [node]}
        write(encode(self._table, "rmw_dds_common/ParticipantEntitiesInfo", message))

    def close(self) -> None:
        """Leave the domain."""
        self._writers.clear()
        self._readers.clear()
        self._participant = None


def _sample(made: Any, data: bytes, **_: Any) -> Any:
    """Return a sample of a class that has its bytes alone."""
    sample = made.__new__(made)
    sample.data = data
    return sample
