"""Keeps the garbage collector away from what lives to the end: each full collection took a third of a second."""

import gc

import pytest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave all that exists before the first test to no collection: it lives to the end."""
    gc.collect()
    gc.freeze()
