"""What one can do: one class per noun."""

from dataclasses import dataclass

from panorama.services.backing_up import Backups
from panorama.services.batch import Batch
from panorama.services.code import Code
from panorama.services.exporting import Exports
from panorama.services.files import Files
from panorama.services.history import History
from panorama.services.imports import Imports
from panorama.services.items import Items
from panorama.services.jobs import Jobs
from panorama.services.journal import Journal
from panorama.services.library import Library
from panorama.services.library_run import KeptScripts
from panorama.services.links import Links
from panorama.services.models import Models
from panorama.services.notes import Notes
from panorama.services.overview import Overviews
from panorama.services.pages import Pages
from panorama.services.projects import Projects
from panorama.services.purging import Purging
from panorama.services.query import Query
from panorama.services.reindexing import Reindexing
from panorama.services.reminders import Reminders
from panorama.services.restoring import Restoring
from panorama.services.reviewing import Reviewing
from panorama.services.ringing import Ringing
from panorama.services.schedules import Schedules
from panorama.services.sdk_reference import SdkReference
from panorama.services.search import Search
from panorama.services.status import State
from panorama.services.tasks import Tasks


@dataclass(frozen=True, slots=True, kw_only=True)
class Services:
    """Every service, joined by `app.opened`."""

    projects: Projects
    tasks: Tasks
    notes: Notes
    links: Links
    reminders: Reminders
    journal: Journal
    files: Files
    items: Items
    search: Search
    query: Query
    overview: Overviews
    history: History
    batch: Batch
    code: Code
    library: Library
    scripts: KeptScripts
    reviewing: Reviewing
    sdk_reference: SdkReference
    imports: Imports
    models: Models
    pages: Pages
    reindexing: Reindexing
    backups: Backups
    exports: Exports
    restoring: Restoring
    purging: Purging
    status: State
    jobs: Jobs
    schedules: Schedules
    ringing: Ringing
