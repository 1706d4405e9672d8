"""Operations on items: each kind, any item, queries, batches, overviews and pages."""

from panorama.services.base import ServiceContext
from panorama.services.items.journal import Journal
from panorama.services.items.links import Links
from panorama.services.items.pages import Pages
from panorama.services.items.projects import Projects
from panorama.services.items.query import Query
from panorama.services.items.tags import Tags


class ItemServices:
    """The item services that need only the context."""

    def __init__(self, context: ServiceContext) -> None:
        self.projects = Projects(context)
        self.links = Links(context)
        self.journal = Journal(context)
        self.tags = Tags(context)
        self.query = Query(context)
        self.pages = Pages(context)
