"""All views of the page: one function and one template each. A new view is a line here."""

from panorama.web.view import View
from panorama.web.views import (
    calendar,
    code,
    data,
    files,
    graph,
    imports,
    notes,
    people,
    projects,
    review,
    search,
    settings,
    sources,
    tasks,
)

VIEWS = (
    View(
        name="today", path="/today", title="Today", make=tasks.show_today, kinds=("task", "project"), section="",
        is_cached=True,
    ),
    View(
        name="tasks", path="/tasks", title="Tasks", make=tasks.show_tasks, kinds=("task", "project", "file"),
        section="", is_cached=True,
    ),
    View(name="task", path="/tasks/{id}", title="Task", make=tasks.show_task, kinds=("task",), within="tasks"),
    View(
        name="notes", path="/notes", title="Notes", make=notes.show_notes, kinds=("note", "project"), section="",
        is_cached=True,
    ),
    View(name="note_edit", path="/notes/new", title="New note", make=notes.create_note, within="notes"),
    View(name="note", path="/notes/{id}", title="Note", make=notes.show_note, kinds=("note",), within="notes"),
    View(name="note_edit", path="/notes/{id}/edit", title="Edit", make=notes.edit_note, within="notes"),
    View(name="file", path="/files/{id}", title="File", make=files.show_file, kinds=("file", "note"), within="notes"),
    View(
        name="projects", path="/projects", title="Projects", make=projects.show_projects,
        kinds=("project", "task", "note"), section="", is_cached=True,
    ),
    View(
        name="project", path="/projects/{id}", title="Project", make=projects.show_project,
        kinds=("*",), within="projects", is_cached=True,
    ),
    View(
        name="project_edit", path="/projects/{id}/edit", title="Edit", make=projects.edit_project, within="projects",
    ),
    View(
        name="calendar", path="/calendar", title="Calendar", make=calendar.show_calendar,
        kinds=("event", "session", "task", "project"), section="", is_cached=True,
    ),
    View(name="event_edit", path="/events/new", title="New event", make=calendar.create_event, within="calendar"),
    View(name="event_edit", path="/events/{id}", title="Event", make=calendar.edit_event, within="calendar"),
    View(
        name="people", path="/people", title="People", make=people.show_people, kinds=("person", "team"), section="",
        is_cached=True,
    ),
    View(name="person_edit", path="/people/new", title="New person", make=people.create_person, within="people"),
    View(
        name="person", path="/people/{id}", title="Person", make=people.show_person, kinds=("*",), within="people",
    ),
    View(name="person_edit", path="/people/{id}/edit", title="Edit", make=people.edit_person, within="people"),
    View(
        name="session", path="/sessions/{id}", title="Session", make=people.show_session, kinds=("session", "person"),
        within="calendar",
    ),
    View(name="search", path="/search", title="Search", make=search.show_search, section=""),
    View(name="graph", path="/graph", title="Graph", make=graph.show_graph, kinds=("*",), section=""),
    View(
        name="review", path="/review", title="Review", make=review.show_review, kinds=("task", "project", "note"),
        section="", is_cached=True,
    ),
    View(name="jobs", path="/jobs", title="Jobs", make=data.show_jobs, kinds=("job",), section="Automation"),
    View(name="scripts", path="/scripts", title="Scripts", make=code.show_scripts, section="Automation"),
    View(name="script", path="/scripts/{name}", title="Script", make=code.show_script, within="scripts"),
    View(name="runs", path="/runs", title="Runs", make=code.show_runs, section="Automation"),
    View(name="run", path="/runs/{id}", title="Run", make=code.show_run, within="runs"),
    View(name="calls", path="/calls", title="Calls", make=review.show_calls, section="Automation"),
    View(name="history", path="/history", title="History", make=data.show_history, kinds=("*",), section="Data"),
    View(name="trash", path="/trash", title="Trash", make=data.show_trash, kinds=("*",), section="Data"),
    View(name="imports", path="/imports", title="Imports", make=imports.show_imports, kinds=("job",), section="Data"),
    View(name="sources", path="/sources", title="Sources", make=sources.show_sources, section="Data"),
    View(name="settings", path="/settings", title="Settings", make=settings.show_settings, section="Data"),
    View(name="welcome", path="/welcome", title="Welcome", make=data.show_welcome, kinds=("*",)),
)  # fmt: skip
"""Every view; those of one path prefix in the order in which their paths are tried."""

SECTIONS = ("", "Automation", "Data")
