"""Secrets in the keyring of the operating system, by the address of the server they are for."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import ModuleType

KEYRING_SERVICE = "Spatial Studio"


class UnusableKeyring(Exception):  # noqa: N818 - the name states the fault
    """The keyring is missing or locked."""


def stored_secret(address: str) -> str | None:
    """Return the secret for an address; None if there is none, or no keyring."""
    with suppress(UnusableKeyring), _keyring() as keyring:
        return keyring.get_password(KEYRING_SERVICE, address) or None
    return None


def store_secret(address: str, secret: str) -> None:
    """Store the secret for an address.

    Raises:
        UnusableKeyring: There is no keyring.
    """
    with _keyring() as keyring:
        keyring.set_password(KEYRING_SERVICE, address, secret)


def delete_secret(address: str) -> None:
    """Delete the secret for an address, if it is there."""
    with suppress(UnusableKeyring), _keyring() as keyring:
        keyring.delete_password(KEYRING_SERVICE, address)


@contextmanager
def _keyring() -> Iterator[ModuleType]:
    """Yield the keyring, with all its errors translated to one.

    Raises:
        UnusableKeyring: The library or a backend is missing, locked or broken.
    """
    try:
        import keyring  # slow: queries the system for backends
        from keyring.errors import KeyringError
    except ImportError as error:
        raise UnusableKeyring from error
    try:
        yield keyring
    except (KeyringError, OSError, RuntimeError) as error:
        raise UnusableKeyring from error
