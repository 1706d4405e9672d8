"""Pictures of every view in light, dark and narrow: `uv run poe tour FOLDER`."""

import argparse
import tempfile
from pathlib import Path
from typing import Literal

from panorama.web.view import View
from panorama.web.views import VIEWS
from tests.browser.driver import VIEWPORT, Browser, launch_browser
from tests.browser.page_daemon import PageDaemon
from tests.browser.sample_data import SampleWriter
from tests.browser.views import find_addresses

Scheme = Literal["light", "dark"]
NARROW = {"width": 390, "height": 844}
LOOKS: tuple[tuple[str, Scheme, dict[str, int]], ...] = (
    ("light", "light", VIEWPORT),
    ("dark", "dark", VIEWPORT),
    ("narrow", "light", NARROW),
)


def take_pictures(browser: Browser, daemon: PageDaemon, folder: Path) -> int:
    """Write a picture of each view in each look into a folder, and return how many there are."""
    folder.mkdir(parents=True, exist_ok=True)
    page = browser.new_page(reduced_motion="reduce", locale="en-GB")
    page.goto(daemon.get_sign_in())
    page.wait_for_url("**/today")
    origin = page.url.removesuffix("/today")
    addresses = find_addresses(page, origin)
    for view in VIEWS:
        page.goto(origin + addresses[view.path])
        for look, scheme, viewport in LOOKS:
            page.set_viewport_size(viewport)
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=folder / f"{name_picture(view)}-{look}.png")
    return len(VIEWS) * len(LOOKS)


def name_picture(view: View) -> str:
    """Return the first part of a picture's name, after the view's address."""
    return view.path.strip("/").replace("/", "-").replace("{", "").replace("}", "")


def main() -> None:
    """Take the pictures of a daemon with sample data, which ends afterwards."""
    parser = argparse.ArgumentParser(prog="poe tour", description="Make screenshots of every view of the page.")
    parser.add_argument("folder", type=Path, help="where the pictures go")
    folder: Path = parser.parse_args().folder
    with tempfile.TemporaryDirectory() as made, launch_browser() as browser:
        daemon = PageDaemon(Path(made) / "home")
        SampleWriter(daemon.home).write()
        try:
            count = take_pictures(browser, daemon, folder)
        finally:
            daemon.stop()
    print(f"{count} pictures in {folder}")  # noqa: T201 (a command for maintainers)


if __name__ == "__main__":
    main()
