"""The hook by the name that users import it by; it stands in `insula.coding.hosts.hook`."""

from insula.coding.hosts.hook import respond

__all__ = ["respond"]
