"""Who may ask where no key is asked for: no page that a browser of this machine has open.

A page may send requests here from another origin, or under a name of its own that resolves to this machine (DNS rebinding).
Browsers then say so: in `Origin`, or by a name in `Host`.
"""

import ipaddress
import socket
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

from .refusals import Refusal

REMEDY = "name it with --allow-host, or ask for a key (--api-key-env)"


def refuse_foreign(headers: Mapping[str, str], hosts: Sequence[str]) -> None:
    """Refuse a request that a page of another origin sent, or that calls this machine by a name that is not its own.

    Args:
        headers: of the request.
        hosts: names that it may have besides.

    Raises:
        Refusal: 403, and what helps.
    """
    called, origin = headers.get("host", ""), headers.get("origin")
    name = _host(called)
    names = {"localhost", socket.gethostname().lower(), *map(str.lower, hosts)}
    # whoever sends no name is no browser
    if called and not (name in names or name.endswith(".localhost") or _is_address(name)):
        raise Refusal(403, "foreign_host", f"this server is not called {called[:80]!r}; {REMEDY}")
    # those of pages without an origin are "null"
    if origin is not None and urlsplit(origin).netloc.lower() != called.lower():
        raise Refusal(403, "foreign_origin", f"a page of {origin[:80]!r} may not ask this server, which has no key")


def is_loopback(host: str) -> bool:
    """Whether this machine alone reaches an address."""
    return _is_address(host) and ipaddress.ip_address(host).is_loopback


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _host(called: str) -> str:
    """The name or address of a `Host`, without its port; "" where it is none."""
    try:
        return (urlsplit(f"//{called}").hostname or "").rstrip(".")
    except ValueError:
        return ""
