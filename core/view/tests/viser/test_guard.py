"""Who may open a page: whoever has its whole address, on this machine, from no other website. By real clients."""

import re
import socket
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

import newton
import pippin
import pippin_view
import pytest
import viser
import websockets.asyncio.server
from pippin_conformance import scenes
from pippin_view.viser import guard
from pippin_view.viser.ports import HOST, free_port
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

pytestmark = pytest.mark.simulation(prototype="ball", solver="featherstone", viewers={"page": {"type": "viser"}})


@pytest.fixture(scope="module")
def ball():
    def build():
        builder = newton.ModelBuilder()
        scenes.add_ball(builder, 1.0)
        return builder

    return build


@pytest.fixture(scope="module")
def page(simulate):
    with simulate() as simulation:
        yield simulation.viewers["page"]


def answer(url, **headers):
    """Return the status and the text that the server gives to a plain request."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers)) as response:
            return response.status, response.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def first_message(url, origin=None, **headers):
    """Open a websocket as the page in a browser does, and return what the server sends first."""
    with websocket(url, origin=origin, additional_headers=headers) as client:
        return client.recv(10)


def websocket(url, **options):
    return connect(url.replace("http", "ws", 1), subprotocols=[f"viser-v{viser.__version__}"], **options)


def root(page):
    return f"http://{urlsplit(page.url).netloc}"


def test_the_whole_address_opens_the_page_and_its_websocket(page):
    assert answer(page.url)[0] == 200
    assert first_message(page.url)
    assert first_message(page.url, origin=root(page)), "as a browser asks"


def test_a_forwarded_port_opens_the_page(page):
    with socket.create_connection((HOST, urlsplit(page.url).port)) as client:
        path = urlsplit(page.url).path
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost:9999\r\n\r\n".encode())

        assert client.recv(12) == b"HTTP/1.1 200"


@pytest.mark.parametrize("path", ["", "/", "/index.html", "/wrong", "/%2e%2e/", "/\udcff"])
def test_without_the_secret_path_nothing_is_served(page, path):
    with socket.create_connection((HOST, urlsplit(page.url).port)) as client:
        line = f"GET {path or '/'} HTTP/1.1\r\nHost: {HOST}\r\n\r\n"
        client.sendall(line.encode(errors="surrogateescape"))
        response = client.makefile("rb").read()

    assert b" 403 " in response.splitlines()[0]
    assert b"the address is not whole; open the one that the program told" in response


@pytest.mark.parametrize("path", ["", "/wrong"])
def test_without_the_secret_path_no_websocket_opens(page, path):
    with pytest.raises(InvalidStatus, match="403"):
        first_message(root(page) + path)


@pytest.mark.parametrize("origin", ["https://example.com", "http://localhost:3000", "null", "https://127.0.0.1"])
def test_another_website_opens_no_websocket_even_with_the_address(page, origin):
    with pytest.raises(InvalidStatus, match="403") as caught:
        first_message(page.url, origin=origin)

    assert b"another website" in caught.value.response.body
    assert answer(page.url, Origin=origin)[0] == 403


@pytest.mark.parametrize("host", ["example.com:8080", "127.0.0.1.example.com", "localhost.example.com", "[", ""])
def test_a_foreign_name_of_this_machine_is_refused(page, host):
    """A website can let its own name point to 127.0.0.1; the browser then takes the page for a part of it."""
    assert answer(page.url, Host=host)[0] == 403
    assert answer(page.url, Host=host, Origin=f"http://{host}")[0] == 403


def test_the_address_is_another_one_for_each_page(page, simulate):
    with simulate() as other:
        url = other.viewers["page"].url

    assert len(urlsplit(url).path) > 20
    assert urlsplit(url).path != urlsplit(page.url).path


def test_the_log_tells_the_address(simulate, caplog):
    with simulate() as simulation:
        assert f"the page is at {simulation.viewers['page'].url}" in caplog.text


def test_the_page_listens_on_this_machine_alone(page):
    with socket.create_server(("127.0.0.2", urlsplit(page.url).port)):
        pass  # another address of this machine is free


def test_a_server_that_cannot_be_guarded_is_refused(simulate, monkeypatch):
    class Unguarded(websockets.asyncio.server.serve):
        """What a version of viser would use that has another server."""

    with socket.create_server((HOST, 0)) as probe:
        port = probe.getsockname()[1]  # of its own: other tests take the first free one
    monkeypatch.setattr("viser.infra._infra.websockets.asyncio.server", type("", (), {"serve": Unguarded}))

    with pytest.raises(pippin.PluginError, match="this version of viser has another server, without a guard; install"):
        simulate(viewers={"page": {"type": "viser", "port": port}})
    assert free_port(port, "port") == port, "it is closed again"


def test_no_other_part_listens():
    """Ports of the network: sockets of a pair and of pipes have none."""
    listens = re.compile(r"\.listen\(|create_server\(|start_server\(|HTTPServer|\.bind\(\(|serve\(handler|grpc\.")
    folders = [Path(package.__file__).parent for package in (pippin, pippin_view)]
    files = (file for folder in folders for file in folder.rglob("*.py"))
    found = {file.name for file in files if listens.search(file.read_text(encoding="utf-8"))}

    assert found == {"ports.py", "guard.py"}


@pytest.mark.parametrize("numbers", ["", "1,2,3", "0,0,0,0,0,nan", "0,0,0,0,1,x", "0,0,0,0,0,1,2", "1e999,0,0,0,0,1"])
def test_a_ray_that_is_none_is_refused(page, numbers):
    status, text = answer(f"{page.url}/under/{numbers}")

    assert (status, text) == (400, "a ray has six numbers\n")


def test_a_program_that_does_something_else_names_nothing(page, monkeypatch):
    monkeypatch.setattr(guard, "_PATIENCE", 0.05)

    assert answer(f"{page.url}/under/0,0,5,0,0,-1") == (200, "")


def test_the_browser_runs_scripts_of_the_page_alone(page):
    """Each answer has a nonce of its own, which only the scripts of the page have."""
    nonces = []
    for _ in range(2):
        with urllib.request.urlopen(page.url) as response:
            policy, text = response.headers["Content-Security-Policy"], response.read().decode()
        nonces += re.findall(r"script-src 'nonce-([\w-]+)'", policy)
        assert len(re.findall(f'<script nonce="{nonces[-1]}"', text)) == text.count("<script") == 2
        assert f'createElement("script");e.nonce="{nonces[-1]}"' in text
        for rule in ("default-src 'none'", "base-uri 'none'", f"connect-src 'self' ws://{HOST}:"):
            assert rule in policy
        assert "unsafe-inline" not in policy.partition("style-src")[0]

    assert nonces[0] != nonces[1]


def test_a_malformed_message_fills_no_log(page, caplog, capfd):
    """A traceback of viser would have the address of the page."""
    for message in (b"no message", b"\x81\xa4type\xa1x", b""):
        with websocket(page.url) as client:
            client.send(message)
            with suppress(ConnectionClosed):
                while True:
                    client.recv(10.0)

    assert "Traceback" not in caplog.text + "".join(capfd.readouterr())
    assert urlsplit(page.url).path not in caplog.text
    assert first_message(page.url), "the page goes on"
