"""The page over the real product."""

import pytest

from panorama.app import App
from panorama.web.site import Site
from tests.web.page_client import PageClient, make_site


@pytest.fixture
def site(app: App) -> Site:
    """The pages."""
    return make_site(app)


@pytest.fixture
def page(app: App, site: Site) -> PageClient:
    """A browser that is signed in."""
    return PageClient(app, site)


@pytest.fixture
def reader(app: App, site: Site) -> PageClient:
    """A browser that may only read."""
    return PageClient(app, site, read_only=True)


@pytest.fixture
def stranger(app: App, site: Site) -> PageClient:
    """A browser without a session."""
    return PageClient(app, site, signs_in=False)
