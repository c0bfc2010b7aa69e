"""Guard of a page: its server answers only who knows the address, through a name of this machine, and from itself."""

from __future__ import annotations

import asyncio
import hmac
import math
import re
import secrets
import threading
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import attrs
import websockets.asyncio.server as websocket_server
from pippin import PluginError
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

_OWN_HOST = re.compile(r"(127\.0\.0\.1|localhost|\[::1\])(:\d+)?")
"""Names by which a browser reaches this machine itself, or a port that was forwarded to it."""

_SCRIPT = Path(__file__).with_name("page.js").read_text(encoding="utf-8")
"""What is added to the page of viser."""

_PAD = Path(__file__).with_name("pad.html").read_text(encoding="utf-8")
"""The page of held keys and gamepads."""

_POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}' 'unsafe-eval'; worker-src blob:; style-src 'unsafe-inline';"
    " connect-src 'self' ws://{host} data: blob:; img-src 'self' data: blob:; font-src data:; base-uri 'none';"
    " form-action 'none'"
)
"""What the browser may do with a page: no script but its own, which compiles WebAssembly and the calls of it, and
nothing of another server."""

_LOADER = 'document.createElement("script");'
"""How the script of viser, which is packed, makes the script of its page."""

_PATIENCE = 2.0
"""Time for the simulation to answer what is under the pointer [s]."""

_PATCHING = threading.Lock()  # two pages may start at once


@attrs.define(eq=False)
class TokenAuth:
    """The secret path of a page, which nothing but its address tells, and the check of each request and websocket.

    A website that the same browser shows could connect to any port of this machine: `Origin` names it. One that lets
    its own name point to this machine is seen by `Host`.
    """

    path: str = attrs.field(factory=lambda: f"/{secrets.token_urlsafe(16)}")
    """Path of the page, which is the secret."""

    on_scheme: Callable[[bool], object] = bool
    """Called on a thread of the server with whether a browser prefers dark pages."""

    on_pointer: Callable[[Sequence[float], Sequence[float]], Future[str]] | None = None
    """Called on a thread of the server with the start and the direction of the ray under the pointer of a browser.
    Returns what the ray meets.
    """

    on_pad: Callable[[str], object] | None = None
    """Called on a thread of the server with each message of the page of held keys and gamepads, which it may refuse by
    a `ValueError`. There is no such page without.
    """

    _is_set: bool = False

    @contextmanager
    def guarding(self) -> Iterator[None]:
        """Guard the server that viser, which has no option for that, starts in the block.

        Raises:
            PluginError: viser does not start its server as expected.
        """
        serve: Any = websocket_server.serve

        def guarded(handler: Any, *args: Any, **options: Any) -> Any:
            if handler.__module__.partition(".")[0] == "viser":
                options["process_request"] = self._checking(options["process_request"])
                self._is_set = True
            return serve(handler, *args, **options)

        with _PATCHING:
            websocket_server.serve = guarded  # pyrefly: ignore[bad-assignment]
            try:
                yield
            finally:
                websocket_server.serve = serve
        if not self._is_set:
            raise PluginError("viewer 'viser': this version of viser has another server, without a guard; install 1.1")

    def fault(self, path: str, headers: Headers) -> str | None:
        """Return why a request is refused; None if it is not."""
        hosts = headers.get_all("Host")
        if len(hosts) != 1 or not _OWN_HOST.fullmatch(hosts[0]):
            return "this page is for the machine that it runs on; forward its port, and open localhost"
        if any(origin != f"http://{hosts[0]}" for origin in headers.get_all("Origin")):
            return "another website asks for this page; open the address that the program told"
        if not hmac.compare_digest(path[: len(self.path)].encode(errors="replace"), self.path.encode()):
            return "the address is not whole; open the one that the program told, with its secret path"
        return None

    async def _respond_under(self, connection: Any, numbers: str) -> Response:
        """Answer with the name of what a ray meets, six numbers with commas."""
        try:
            ray = [float(number) for number in numbers.split(",")]
        except ValueError:
            ray = []
        if len(ray) != 6 or not all(map(math.isfinite, ray)) or self.on_pointer is None:
            return connection.respond(400, "a ray has six numbers\n")
        try:
            name = await asyncio.wait_for(asyncio.wrap_future(self.on_pointer(ray[:3], ray[3:])), _PATIENCE)
        except TimeoutError:  # the program does something else
            name = ""
        return connection.respond(200, name)

    def _as_page(self, response: Response, page: str, host: str) -> Response:
        """Give a response a page, and the policy by which the browser runs no scripts but those of the page."""
        nonce = secrets.token_urlsafe(16)
        named = page.replace("<script", f'<script nonce="{nonce}"')
        response.body = named.replace(_LOADER, f'{_LOADER}e.nonce="{nonce}";', 1).encode()
        del response.headers["Content-Length"]
        response.headers["Content-Length"] = str(len(response.body))
        response.headers["Content-Security-Policy"] = _POLICY.format(nonce=nonce, host=host)
        response.headers["Referrer-Policy"] = "no-referrer"  # the address is the secret
        return response

    def _respond_to_pad(self, connection: Any, message: str, host: str) -> Response:
        if not message:
            response = connection.respond(200, "")
            del response.headers["Content-Type"]
            response.headers["Content-Type"] = "text/html; charset=utf-8"
            return self._as_page(response, _PAD.replace("BASE", self.path), host)
        assert self.on_pad is not None
        try:
            self.on_pad(message.removeprefix("/"))
        except ValueError as error:
            return connection.respond(400, f"{error}\n")
        return connection.respond(200, "")

    def _checking(self, respond: Any) -> Callable[[Any, Request], Response | Awaitable[Response] | None]:
        """Return a function that checks a request before viser answers it, and adds the script to the page."""

        def check(connection: Any, request: Request) -> Response | Awaitable[Response] | None:
            fault = self.fault(request.path, request.headers)
            if fault is not None:
                return connection.respond(403, f"{fault}\n")
            path = request.path[len(self.path) :].partition("?")[0]
            if path in ("/dark", "/light"):
                self.on_scheme(path == "/dark")
                return connection.respond(200, "")
            if self.on_pad is not None and (path == "/pad" or path.startswith("/pad/")):
                return self._respond_to_pad(connection, path.removeprefix("/pad"), request.headers["Host"])
            if path.startswith("/under/"):
                return self._respond_under(connection, path.removeprefix("/under/"))
            plain = [item for item in request.headers.raw_items() if item[0].lower() != "accept-encoding"]
            response = respond(connection, Request(path or "/", Headers(plain)))
            if response is not None and path in ("", "/"):
                script = f"<head><script>{_SCRIPT.replace('BASE', self.path)}</script>"
                page = response.body.decode().replace("<head>", script, 1)
                return self._as_page(response, page, request.headers["Host"])
            return response

        return check
