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
from panorama.services.reminders.reminders import Reminders
from panorama.services.schedules.due import DueWork
from panorama.services.scripts.code import Code
from panorama.services.scripts.library.library import Library
from panorama.services.scripts.library.review import ScriptReviews
from panorama.services.scripts.library.runner import LibraryRunner
from panorama.services.scripts.library.undo import ScriptUndo
from panorama.services.scripts.sdk_search.reference import SdkReference
from panorama.services.search.models import Models
from panorama.services.search.reindex import ReindexService
from panorama.services.search.search import Search
from panorama.services.search.semantic import SemanticSearch
from panorama.services.sessions.sessions import Sessions
from panorama.services.sources.calling import SourceCalls
from panorama.services.sources.functions import SourceFunctions
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
    meaning: InitVar[SemanticSearch]
    due_work: InitVar[DueWork]
    functions: InitVar[SourceFunctions]
    files: Files
    items: Items
    batch: Batch
    code: Code
    library: Library
    sdk_reference: SdkReference
    sources: SourceCalls
    source_permissions: SourcePermissions
    imports: Imports
    models: Models
    backups: Backups
    exports: Exports
    restoring: RestoreService
    purging: PurgeService
    status: StatusService
    jobs: Jobs

    def __post_init__(
        self, context: ServiceContext, meaning: SemanticSearch, due_work: DueWork, functions: SourceFunctions
    ) -> None:
        """Build the services that need only the context, the semantic search, due work, sources and each other."""
        super().__init__(context)
        self.tasks, self.notes = Tasks(context, meaning), Notes(context, meaning)
        self.search, self.reindexing = Search(context, meaning), ReindexService(context, meaning)
        self.graph = Graph(context, self.search)
        self.schedules, self.ringing = due_work.schedules, due_work.ringing
        self.overview = Overviews(context, self.library.suggestion_hint)
        self.scripts = LibraryRunner(context, self.library, self.code)
        self.reviewing = ScriptReviews(context, self.library, self.source_permissions)
        self.reminders = Reminders(context, self.ringing)
        self.source_listing, self.source_policies = SourceListing(functions), SourcePolicies(context, functions)
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
        self.views = ChatViews(context, self.tasks, self.overview, self.search, self.code, self.library, self.batch)
