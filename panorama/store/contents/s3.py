"""Stores the contents of files in a bucket of an S3-compatible store.

An object is written with one request, or as parts that the store joins at the end, so it is whole or does not exist.
"""

import re
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from datetime import timedelta
from hashlib import sha256
from tempfile import SpooledTemporaryFile
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, PermissionDeniedError, UnauthenticatedError
from obstore.store import S3Store

from panorama.domain.text.hosts import is_loopback
from panorama.errors import InvalidInputError, PanoramaError, UnavailableError
from panorama.store.archive.safe_files import UnreadableError
from panorama.store.backend.contents import ContentStore
from panorama.store.contents.parts import PART_BYTES, iter_verified, missing_error, read_whole

if TYPE_CHECKING:
    from obstore.store import ClientConfig, RetryConfig, S3Config

SPOOL_BYTES = 16 << 20
"""A content up to this size is in memory while it is sent; a larger one is in a temporary file."""

_OWNER = "owner"
_BUCKET = re.compile(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]")
_PATH = re.compile(r"([0-9a-f]{2})/([0-9a-f]{62})")
_CLIENT: "ClientConfig" = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=60)}
_RETRY: "RetryConfig" = {
    "max_retries": 4,
    "retry_timeout": timedelta(seconds=20),
    "backoff": {"init_backoff": timedelta(milliseconds=200), "max_backoff": timedelta(seconds=4), "base": 2},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class S3Location:
    """A place in a bucket and the access to it: by default Amazon's endpoint and the machine's own credentials."""

    url: str
    endpoint: str
    region: str
    key_id: str
    key: str


class S3Contents:
    """Contents as objects `ab/cdef…` below a prefix, and an object `owner` with the number of the database.

    A content that is put again is sent again: that is how its timestamp is updated. Another database may not write
    below the prefix, because a purge deletes the contents that its database does not name.

    Args:
        read_number: Returns the number of the database; it is needed to write and to delete. With 0,
            contents are copied for a database that is not in use yet, without owning the prefix.
        guard: The store beside the database; its lock prevents deletions while any machine writes.

    Raises:
        InvalidInputError: The location cannot be used.
    """

    def __init__(self, location: S3Location, space: str, read_number: Callable[[], int], guard: ContentStore) -> None:
        bucket, prefix = _parse_url(location.url)
        _check_endpoint(location)
        self._bucket = bucket
        self._prefix = "/".join(filter(None, (prefix, space)))
        self._read_number = read_number
        self._is_owned = False
        self._guard = guard
        self._store = _open_store(location, bucket, self._prefix)

    def describe(self, name: str) -> str:
        """Return the address of a content."""
        return f"s3://{self._bucket}/{self._prefix}/{_object_path(name)}"

    def put(self, content: bytes) -> str:
        """Store a content durably and return its digest.

        Raises:
            UnavailableError: The store cannot be reached or refuses it; nothing was changed.
        """
        name = sha256(content).hexdigest()
        with self._guard.retain(), self._translate_errors("; nothing was changed"):
            self._require_ownership()
            obstore.put(self._store, _object_path(name), content)
        return name

    def put_parts(self, name: str, parts: Iterable[bytes]) -> None:
        """Store the content with a digest from its parts.

        Raises:
            UnreadableError: The parts have another digest; none of them is sent.
            UnavailableError: The store cannot be reached or refuses it; nothing was changed.
        """
        with SpooledTemporaryFile(SPOOL_BYTES) as file:
            file.writelines(iter_verified(name, parts))
            file.seek(0)
            with self._guard.retain(), self._translate_errors("; nothing was changed"):
                self._require_ownership()
                obstore.put(self._store, _object_path(name), file)

    def get(self, name: str) -> bytes:
        """Return the content with a digest.

        Raises:
            UnavailableError: It is missing or damaged, or the store cannot be reached.
        """
        return read_whole(self, name)

    def read_range(self, name: str, start: int, size: int) -> bytes:
        """Return a range of a content without verifying it.

        Raises:
            UnavailableError: It is missing, or the store cannot be reached.
        """
        path = _object_path(name)
        try:
            with self._translate_errors():
                size = min(size, obstore.head(self._store, path)["size"] - start)
                return bytes(obstore.get_range(self._store, path, start=start, length=size)) if size > 0 else b""
        except FileNotFoundError as error:
            raise missing_error(self.describe(name)) from error

    def iter_parts(self, name: str) -> Generator[bytes]:
        """Yield a content in parts of about 1 MB.

        Raises:
            UnreadableError: It is missing.
            UnavailableError: The store cannot be reached.
        """
        try:
            with self._translate_errors():
                for part in obstore.get(self._store, _object_path(name)).stream(min_chunk_size=PART_BYTES):
                    yield bytes(part)
        except FileNotFoundError as error:
            raise UnreadableError("is missing") from error

    def has(self, name: str) -> bool:
        """Return whether a content exists, damaged or not."""
        try:
            with self._translate_errors():
                obstore.head(self._store, _object_path(name))
        except FileNotFoundError:
            return False
        return True

    def iter_sizes(self) -> Iterator[tuple[str, int]]:
        """Yield the digests of the existing contents, and their sizes in bytes."""
        with self._translate_errors():
            for batch in obstore.list(self._store):  # pyright: ignore[reportUnknownMemberType] (its overloads name Arrow types)
                for entry in batch:
                    if found := _PATH.fullmatch(entry["path"]):
                        yield found[1] + found[2], entry["size"]

    def retain(self) -> AbstractContextManager[None]:
        """Prevent the deletion of contents inside the block, on any machine."""
        return self._guard.retain()

    def exclude(self) -> AbstractContextManager[None]:
        """Prevent contents from being retained or written inside the block."""
        return self._guard.exclude()

    def delete(self, names: Collection[str], *, before: float) -> tuple[int, int]:
        """Delete contents last written before a time (seconds since 1970); return their number and bytes.

        Raises:
            UnavailableError: They are being copied, or the store cannot be reached.
        """
        count = size = 0
        for name in names:
            path = _object_path(name)
            with self.exclude(), self._translate_errors():
                self._require_ownership()
                try:
                    found = obstore.head(self._store, path)
                except FileNotFoundError:
                    continue
                if found["last_modified"].timestamp() < before:
                    obstore.delete(self._store, path)
                    count, size = count + 1, size + found["size"]
        return count, size

    def release(self) -> None:
        """Let the database that writes next own the prefix, after a restore has replaced the one that did.

        Raises:
            UnavailableError: The store cannot be reached.
        """
        self._is_owned = False
        with self._translate_errors(), suppress(FileNotFoundError):
            obstore.delete(self._store, _OWNER)

    def _require_ownership(self) -> None:
        """Check once that the prefix belongs to the database, and reserve it if it belongs to none.

        Raises:
            UnavailableError: It belongs to another database.
        """
        if self._is_owned or not (number := self._read_number()):
            return
        name = f"{number:016x}".encode()
        with suppress(AlreadyExistsError):
            obstore.put(self._store, _OWNER, name, mode="create")
        if bytes(obstore.get(self._store, _OWNER).bytes()) != name:
            raise UnavailableError(
                f"s3://{self._bucket}/{self._prefix} holds the contents of another database; nothing was changed.",
                hint="Give files_url a prefix of its own: a purge deletes contents that its database does not name.",
            )
        self._is_owned = True

    @contextmanager
    def _translate_errors(self, result: str = "") -> Generator[None]:
        """Translate errors of the store; FileNotFoundError is left for a missing object.

        Args:
            result: What an error says about the data.
        """
        try:
            yield
        except PanoramaError:
            raise
        except (BaseError, OSError) as error:
            if "NoSuchBucket" in str(error):
                raise UnavailableError(
                    f"There is no bucket {self._bucket}{result}.", hint="Create it, or correct the setting files_url."
                ) from error
            if isinstance(error, FileNotFoundError):
                raise
            if _is_refusal(error):
                raise UnavailableError(
                    f"The S3 store refuses access to the bucket {self._bucket}{result}.",
                    hint="Check files_key_id, files_key, and the rights to read, write, list and delete objects.",
                ) from error
            raise UnavailableError(
                f"The S3 store with the contents of files cannot be reached{result}.",
                hint="Check the network, files_endpoint and files_region; then send the same call again.",
            ) from error


def _is_refusal(error: Exception) -> bool:
    """Return whether the store refused the key; listing reports that in the text only."""
    is_typed = isinstance(error, PermissionDeniedError | UnauthenticatedError | PermissionError)
    return is_typed or any(status in str(error) for status in ("401 Unauthorized", "403 Forbidden"))


def _parse_url(url: str) -> tuple[str, str]:
    """Return the bucket and the prefix of an address.

    Raises:
        InvalidInputError: It is not the address of a bucket.
    """
    parts = urlsplit(url)
    if parts.scheme != "s3" or not _BUCKET.fullmatch(parts.netloc) or parts.query or parts.fragment:
        raise InvalidInputError("The setting files_url cannot be used.", hint="Write it as s3://bucket/prefix.")
    return parts.netloc, parts.path.strip("/")


def _check_endpoint(location: S3Location) -> None:
    """Check that an endpoint is an address, and that a key is not sent unencrypted over a network.

    Raises:
        InvalidInputError: It is not an address, or the key would be sent unencrypted.
    """
    if not location.endpoint:
        return
    parts = urlsplit(location.endpoint)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username:
        raise InvalidInputError(
            "The setting files_endpoint cannot be used.", hint="Write it as https://minio.example.org:9000."
        )
    if location.key and parts.scheme == "http" and not is_loopback(parts.hostname):
        raise InvalidInputError(
            "The setting files_endpoint begins with http://: what files_key signs would be sent unencrypted.",
            hint="Use https://.",
        )


def _open_store(location: S3Location, bucket: str, prefix: str) -> S3Store:
    config: S3Config = {"region": location.region}
    if location.key_id:
        config |= {"access_key_id": location.key_id, "secret_access_key": location.key}
    if location.endpoint:
        config |= {"endpoint": location.endpoint.rstrip("/")}
    options: ClientConfig = {**_CLIENT, "allow_http": location.endpoint.startswith("http://")}
    return S3Store(bucket, prefix=prefix, config=config, client_options=options, retry_config=_RETRY)


def _object_path(name: str) -> str:
    return f"{name[:2]}/{name[2:]}"
