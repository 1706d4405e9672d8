"""Jobs of tests, somebody who does them, and how one stands."""

from collections.abc import Callable, Iterator

import pytest

from panorama.app import App
from panorama.calls import Answer
from panorama.domain.jobs import Job
from tests.working import JobActivity, at_work, offered, until

Call = Callable[..., Answer]


@pytest.fixture
def works(app: App) -> JobActivity:
    """Work to be done."""
    return offered(app)


@pytest.fixture
def working(app: App, works: JobActivity) -> Iterator[None]:
    """Somebody who does it."""
    with at_work(app):
        yield
        works.go.set()


def job(app: App, id_: str) -> Job:
    """Return a job as it stands."""
    return app.jobs.get_job(id_)


def ended(app: App, id_: str) -> Job:
    """Return a job once it has ended."""
    until(
        lambda: job(app, id_).has_ended and id_ not in {item.job.id for item in app.jobs.running_jobs}, "the job's end"
    )
    return job(app, id_)
