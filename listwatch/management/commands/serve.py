"""`serve`: a server for people and for Kubernetes clients, in one process."""

from __future__ import annotations

import ipaddress
import os
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.conf import settings
from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import OperationalError, connections
from django.utils.module_loading import import_string

from listwatch.management.options import add_data
from listwatch.management.options import options as options_in_force
from listwatch.serving import database
from listwatch.serving.data_folder import AlreadyServedError, new_token
from listwatch.serving.preparing import Prepared, prepared

if TYPE_CHECKING:
    from listwatch.serving.controllers import ControllersProcess
    from listwatch.serving.data_folder import DataFolder
    from listwatch.serving.granian import TLS


class Command(BaseCommand):
    """Makes the data folder, migrates, prints the way in, and serves until SIGINT or SIGTERM."""

    help = "Serve the Kubernetes API, the dashboard and the admin."
    requires_system_checks = ()  # they load every page; `listwatch check` runs them

    def add_arguments(self, parser: CommandParser) -> None:
        """The outside contract; docs/commands.md has it too."""
        parser.add_argument("--host", default="127.0.0.1", help="where the secure port listens")
        parser.add_argument(
            "--plain-host", default="", metavar="HOST",
            help="where the plain port listens: loopback unless it is named here",
        )  # fmt: skip
        parser.add_argument(
            "--port", type=int, default=8000,
            help="HTTP for people and scripts: dashboard, admin, API with a token",
        )  # fmt: skip
        parser.add_argument(
            "--secure-port", type=int, default=6443,
            help="HTTPS for Kubernetes clients; DIR/kubeconfig points here",
        )  # fmt: skip
        parser.add_argument("--workers", type=int, default=1, help="processes; PostgreSQL only")
        add_data(parser)
        parser.add_argument(
            "--token-auth-file", metavar="FILE",
            help='more static tokens, a line each: token,user,uid,"group,group"',
        )  # fmt: skip
        parser.add_argument(
            "--no-controllers", action="store_true",
            help="an API server alone: no controllers, no service-account admission",
        )  # fmt: skip
        parser.add_argument(
            "--controllers", default="*", metavar="LIST",
            help="which of the controllers run: `*` for all, `-name` for all but one, '' for none",
        )  # fmt: skip
        parser.add_argument("--nodes", type=int, default=3, help="how many nodes there are")
        parser.add_argument(
            "--faults", action="store_true",
            help="let permitted users put in faults: 410, cuts, silence, delays, 429 and more",
        )  # fmt: skip

    def handle(self, *args: Any, **options: Any) -> None:
        """Serve; returns after an orderly stop."""
        _check(options)
        if options["workers"] > 1 and database.is_sqlite():
            raise CommandError(
                "--workers: on SQLite one process serves a folder. Several need PostgreSQL: set "
                "LISTWATCH_DATABASE_URL."
            )
        if options["faults"]:
            os.environ["LISTWATCH_FAULTS"] = "yes"
        if options["workers"] > 1 and options_in_force().faults:
            raise CommandError("--faults: each process would have its own; use one worker")
        try:
            with prepared(options_in_force()) as ready:
                self._serve(ready, options)
        except (AlreadyServedError, ImproperlyConfigured) as error:
            raise CommandError(str(error)) from error
        except OperationalError as error:
            raise CommandError(f"the database: {str(error).strip()}") from error

    def _serve(self, ready: Prepared, options: dict[str, Any]) -> None:
        from listwatch.serving import certificates
        from listwatch.serving.granian import TLS
        from listwatch.serving.kubeconfig import kubeconfig

        folder, host, count = ready.folder, options["host"], options["workers"]
        plain_host = options["plain_host"] or (host if is_loopback(host) else "127.0.0.1")
        plain = _listen(plain_host, options["port"], count)
        secure = _listen(host, options["secure_port"], count)
        certificates.ensure(folder, certificates.subject_names(host))
        secure_url = f"https://{url_host(host)}:{secure[0].getsockname()[1]}"
        plain_url = f"http://{url_host(plain_host)}:{plain[0].getsockname()[1]}"
        config = kubeconfig(secure_url, folder.ca_certificate.read_bytes(), ready.token)
        folder.write(folder.kubeconfig, config, secret=True)

        def announce() -> None:
            self.stdout.write(
                f"Dashboard  {plain_url}/login/{ready.login_token}/\n"
                f"kubectl    export KUBECONFIG={folder.kubeconfig}\n"
                f"API        {secure_url}, and {plain_url} with the token in {folder.token}"
            )
            self.stdout.flush()

        tls = TLS(folder.server_certificate, folder.server_key)
        # With none there is no child, and namespaces are ended by the server's own.
        none = options["no_controllers"] or not options["controllers"].strip()
        controllers = None if none else _controllers(folder, plain_url, options)
        _run(list(zip(plain, secure, strict=True)), tls, announce, controllers)


def _check(options: dict[str, Any]) -> None:
    """Refuse what could only fail later, when it looks as if all were well."""
    if options["workers"] < 1:
        raise CommandError("--workers: at least one process serves")
    for name in ("port", "secure_port"):
        if not 0 <= options[name] <= 65535:
            option = name.replace("_", "-")
            raise CommandError(f"--{option}: a port is 0 to 65535, not {options[name]}")
    if options["nodes"] < 0:
        raise CommandError("--nodes: there are no fewer than 0 nodes")
    if options["controllers"].strip() not in ("", "*"):  # else the server need not know them
        from listwatch.controllers.catalogue import CONTROLLERS
        from listwatch.controllers.selection import selected

        try:
            selected(options["controllers"], CONTROLLERS)
        except ValueError as error:
            raise CommandError(f"--controllers: {error}") from error


def _controllers(folder: DataFolder, url: str, options: dict[str, Any]) -> ControllersProcess:
    """The child that is started when the server answers."""
    from listwatch.serving.controllers import ControllersCommand, ControllersProcess

    # They have one for namespaces, which does more than the server's own.
    os.environ["LISTWATCH_NAMESPACE_CONTROLLER"] = "no"
    arguments = ["--controllers", options["controllers"], "--nodes", str(options["nodes"])]
    if not database.is_sqlite():
        arguments.append("--leader-elect")  # other servers on this database have theirs
    token = folder.keep(folder.controllers_token, new_token())
    command = ControllersCommand(url, token, folder.ca_certificate, tuple(arguments))
    return ControllersProcess(command)


def _run(
    sockets: list[tuple[socket.socket, socket.socket]],
    tls: TLS,
    announce: Callable[[], None],
    controllers: ControllersProcess | None,
) -> None:
    from listwatch.serving import serve

    application = import_string(settings.ASGI_APPLICATION)
    listeners = [(serve.Listener(plain), serve.Listener(secure, tls)) for plain, secure in sockets]
    if len(listeners) == 1:
        serve.run(application, listeners[0], ready=announce, controllers=controllers)
        return
    from listwatch.serving.workers import Workers

    connections.close_all()  # no child may share the parent's
    if not Workers(application, listeners, controllers).run(announce):
        raise CommandError("a worker failed; the log says why")


def _listen(host: str, port: int, count: int) -> list[socket.socket]:
    """As many listening sockets on one port as there are processes."""
    from listwatch.serving.granian import listen

    try:
        first = listen(host, port, shared=count > 1)
        number = int(first.getsockname()[1])
        return [first, *(listen(host, number, shared=True) for _ in range(count - 1))]
    except OSError as error:
        raise CommandError(f"cannot listen on {error.strerror}") from error


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches it."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def url_host(host: str) -> str:
    """How a URL on this machine names it."""
    if host in ("0.0.0.0", "::"):  # noqa: S104 (asks whether it is)
        return "127.0.0.1"
    return f"[{host}]" if ":" in host else host
