"""The page over the real product, and those who attack it."""

from tests.web.conftest import page, reader, site, stranger

__all__ = ["page", "reader", "site", "stranger"]
