"""Reads and stores secrets in the system's keyring, which may be missing or locked.

`keyring` is imported late: it takes up to 400 ms, and secrets are rarely needed.
"""


def read_secret(service: str, name: str) -> str | None:
    """Return a secret, None if there is none or the keyring cannot be read."""
    import keyring
    from keyring.errors import KeyringError

    try:
        return keyring.get_password(service, name)
    except (KeyringError, RuntimeError, OSError):
        return None


def store_secret(service: str, name: str, value: str) -> bool:
    """Store a secret and return whether it can be read again: some backends drop it silently."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.set_password(service, name, value)
    except (KeyringError, RuntimeError, OSError):
        return False
    return read_secret(service, name) == value


def delete_secret(service: str, name: str) -> None:
    """Delete a secret if it can be."""
    import keyring
    from keyring.errors import KeyringError

    try:
        keyring.delete_password(service, name)
    except (KeyringError, RuntimeError, OSError):
        return
