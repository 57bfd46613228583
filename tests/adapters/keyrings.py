"""Keyrings for tests: one in memory, one that is locked."""

from contextlib import contextmanager

import keyring
import keyring.backend
from keyring.errors import KeyringLocked, PasswordDeleteError


class MemoryKeyring(keyring.backend.KeyringBackend):
    """Keeps passwords as long as it lives."""

    priority = 1

    def __init__(self):
        super().__init__()
        self.passwords = {}

    def get_password(self, service, username):
        return self.passwords.get((service, username))

    def set_password(self, service, username, password):
        self.passwords[service, username] = password

    def delete_password(self, service, username):
        if self.passwords.pop((service, username), None) is None:
            raise PasswordDeleteError


class LockedKeyring(keyring.backend.KeyringBackend):
    """Stays locked."""

    priority = 1

    def get_password(self, service, username):
        raise KeyringLocked

    def set_password(self, service, username, password):
        raise KeyringLocked

    def delete_password(self, service, username):
        raise KeyringLocked


@contextmanager
def used(backend):
    """Use a keyring for a while."""
    before = keyring.get_keyring()
    keyring.set_keyring(backend)
    try:
        yield backend
    finally:
        keyring.set_keyring(before)
