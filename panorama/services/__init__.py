"""The operations of Panorama: one class per noun."""

from dataclasses import InitVar, dataclass

from panorama.services.archive.backup import Backups
from panorama.services.archive.export import Exports
from panorama.services.archive.purge import PurgeService
from panorama.services.archive.restore import RestoreService
from panorama.services.base import ServiceContext
from panorama.services.calendar.events import Events
from panorama.services.charts import Charts
from panorama.services.graph.graph import Graph
from panorama.services.graph.relations import Relations
from panorama.services.history.history import History
from panorama.services.importing.markdown import Imports
from panorama.services.importing.memory import MemoryImports
from panorama.services.importing.source_refs import SourceRefs
from panorama.services.items import ItemServices
from panorama.services.items.any_item import Items
from panorama.services.items.batch import Batch
from panorama.services.items.files import Files
from panorama.services.items.note_tasks import NoteTaskService
from panorama.services.items.notes import Notes
from panorama.services.items.overview import Overviews
from panorama.services.items.tasks import Tasks
from panorama.services.jobs.jobs import Jobs
from panorama.services.people.attendees import AttendeeResolver
from panorama.services.people.dashboard import PersonDashboards
from panorama.services.people.people import People
from panorama.services.people.teams import Teams
from panorama.services.reminders.alerts import ReminderAlerts
from panorama.services.reminders.reminders import Reminders
from panorama.services.schedules.schedules import Schedules
from panorama.services.scripts.code import Code
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.review import ScriptReviews
from panorama.services.scripts.library.runner import LibraryRunner
from panorama.services.scripts.library.undo import ScriptUndo
from panorama.services.scripts.sdk_search.reference import SdkReference
from panorama.services.search.models import Models
from panorama.services.search.reindex import ReindexService
from panorama.services.search.search import Search
from panorama.services.sessions.sessions import Sessions
from panorama.services.sources.calling import SourceCalls
from panorama.services.sources.listing import SourceListing
from panorama.services.sources.permissions import SourcePermissions
from panorama.services.sources.policies import SourcePolicies
from panorama.services.statistics import Statistics
from panorama.services.status import StatusService
from panorama.services.views.views import ChatViews


@dataclass(kw_only=True)
class Services(ItemServices):
    """All services; `app.open_app` connects them."""

    context: InitVar[ServiceContext]
    tasks: Tasks
    notes: Notes
    reminders: Reminders
    files: Files
    items: Items
    search: Search
    graph: Graph
    overview: Overviews
    batch: Batch
    code: Code
    library: Library
    scripts: LibraryRunner
    reviewing: ScriptReviews
    sdk_reference: SdkReference
    sources: SourceCalls
    source_listing: SourceListing
    source_permissions: SourcePermissions
    source_policies: SourcePolicies
    imports: Imports
    models: Models
    reindexing: ReindexService
    backups: Backups
    exports: Exports
    restoring: RestoreService
    purging: PurgeService
    status: StatusService
    jobs: Jobs
    schedules: Schedules
    ringing: ReminderAlerts

    def __post_init__(self, context: ServiceContext) -> None:
        """Build the services that need nothing but the context."""
        super().__init__(context)
        self.memory_imports = MemoryImports(context)
        self.people = People(context)
        self.person_dashboards = PersonDashboards(context)
        self.relations = Relations(context)
        self.note_tasks = NoteTaskService(context)
        self.source_refs = SourceRefs(context)
        self.teams = Teams(context)
        attendees = AttendeeResolver(self.people)
        self.sessions = Sessions(context, attendees)
        self.events = Events(context, attendees)
        self.history = History(context)
        self.undoing = ScriptUndo(context, self.history, self.library)
        self.statistics = Statistics(context)
        self.charts = Charts(self.files)
        self.views = ChatViews(context, self.tasks, self.overview, self.search, self.code, self.library)
