"""Fetches packages from registries, and checks that they are the right ones."""

import subprocess
import sys
from hashlib import sha256
from pathlib import Path

from panorama.errors import InvalidInputError, UnavailableError


def download_wheel(package: str, folder: Path) -> Path:
    """Fetch a wheel into a folder with pip, without what it depends on, and return its path.

    Raises:
        UnavailableError: pip could not fetch it.
    """
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--only-binary", ":all:", "-d", str(folder)]
    try:
        subprocess.run([*command, package], check=True, stdin=subprocess.DEVNULL)
    except subprocess.CalledProcessError as error:
        raise UnavailableError(f"pip could not fetch {package}.", hint="Fetch it and give its path.") from error
    return next(folder.glob(package.partition("==")[0].replace("-", "_") + "*.whl"))


def download_npm(package: str, folder: Path) -> Path:
    """Fetch a package into a folder with npm and return its path.

    Raises:
        UnavailableError: npm could not fetch it.
    """
    try:
        subprocess.run(["npm", "pack", package], cwd=folder, check=True, stdin=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError) as error:
        raise UnavailableError(f"npm could not fetch {package}.", hint="Fetch it and give its path.") from error
    return folder / f"{package.replace('@', '-')}.tgz"


def check_package(file: Path, package: str, digest: str) -> None:
    """Check that a file is a package with this SHA-256.

    Raises:
        InvalidInputError: It is another file.
    """
    if sha256(file.read_bytes()).hexdigest() != digest:
        raise InvalidInputError(f"{file} is not {package}.", hint="Let the program download it.")
