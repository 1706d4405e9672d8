"""Host names of addresses."""

from contextlib import suppress
from ipaddress import ip_address


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine."""
    with suppress(ValueError):
        return ip_address(host).is_loopback
    return host == "localhost" or host.endswith(".localhost")
