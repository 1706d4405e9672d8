"""German: the views in the chat."""

TEXTS: dict[str, str] = {
    "active": "aktiv",
    "and {number} more": "und {number} weitere",
    "Answer": "Antwort",
    "archived": "archiviert",
    "Before it is done": "Bevor es geschieht",
    "blocked": "blockiert",
    "Changed since its approval": "Geändert seit der Freigabe",
    "Complete: {title}": "Erledigen: {title}",
    "completed": "erledigt",
    "Do it": "Ausführen",
    "done": "erledigt",
    "Due next week": "Nächste Woche fällig",
    "empty": "leer",
    "Events": "Termine",
    "Events next week": "Termine nächster Woche",
    "Found": "Gefunden",
    "Full screen": "Vollbild",
    "health {number}": "Zustand {number}",
    "In 1 hour": "In 1 Stunde",
    "In 1 hour: {title}": "In 1 Stunde: {title}",
    "May change": "Darf ändern",
    "May read": "Darf lesen",
    "Milliseconds": "Millisekunden",
    "most {number}": "höchstens {number}",
    "No runs": "Keine Läufe",
    "No script has run yet.": "Noch ist kein Skript gelaufen.",
    "Nothing has changed yet.": "Noch ist nichts geändert.",
    "Nothing is due.": "Nichts ist fällig.",
    "Nothing to show.": "Nichts zu zeigen.",
    "Nothing was found.": "Nichts gefunden.",
    (
        "Only the user can approve it, outside this chat: `panorama scripts review {name}` in a terminal, "
        "or the page /scripts/{name} (`panorama open scripts`)."
    ): (
        "Nur du kannst es freigeben, außerhalb dieses Chats: `panorama scripts review {name}` in einem Terminal, "
        "oder die Seite /scripts/{name} (`panorama open scripts`)."
    ),
    "Output": "Ausgabe",
    "planned": "geplant",
    "Put off until tomorrow: {title}": "Auf morgen verschieben: {title}",
    "Refused by the sandbox": "Von der Sandbox abgelehnt",
    "Remind in 1 hour: {title}": "In 1 Stunde erinnern: {title}",
    "Reminders that wait": "Wartende Erinnerungen",
    "Results for “{words}”": "Ergebnisse für „{words}“",
    "Run {name}": "Lauf {name}",
    "Show {number} more": "{number} weitere zeigen",
    "The call was cancelled.": "Der Aufruf wurde abgebrochen.",
    "Tomorrow: {title}": "Morgen: {title}",
    "Undo this run": "Diesen Lauf zurücknehmen",
    "Would change": "Würde ändern",
    "{day}: {completed} completed, {created} created": "{day}: {completed} erledigt, {created} angelegt",
    "{number} changed": "{number} geändert",
    "{start} to {end}": "{start} bis {end}",
    "It cannot be done like this: see the steps that are marked.": (
        "So geht es nicht: siehe die Schritte mit einem Hinweis."
    ),
    "result of step {number}": "Ergebnis von Schritt {number}",
    "This step depends on earlier ones and can only be checked when they run.": (
        "Dieser Schritt hängt von früheren ab und lässt sich erst prüfen, wenn diese laufen."
    ),
    "There is no tool '{name}'.": "Es gibt kein Werkzeug „{name}“.",
    "The note “{name}” has version {current}, not {version}: it was changed since you read it.": (
        "Die Notiz „{name}“ wurde inzwischen geändert: Sie hat Version {current}, nicht {version}."
    ),
    "{tool} cannot be part of an atomic batch.": (
        "{tool} kann kein Schritt eines Stapels sein, der ganz oder gar nicht ausgeführt wird."
    ),
}

SERVER_TEXTS = (
    "active", "archived", "Before it is done", "blocked", "Calls", "Changed since its approval", "Changes", "Completed",
    "Created", "done", "Done", "Done lately", "Due next week", "Error", "Events", "Events next week", "Found", "Health",
    "In progress", "May change", "May read", "Milliseconds", "New script", "Next 7 days", "No runs",
    "No script has run yet.", "Notes", "Notes written", "Nothing has changed yet.", "Open", "Open tasks", "Output",
    "Overdue", "planned", "Projects", "Refused by the sandbox", "Reminders that wait", "Result", "Slipped", "Source",
    "This step depends on earlier ones and can only be checked when they run.", "Today", "Weekly review",
    "Would change",
)  # fmt: skip
"""Headings, figures, titles and states of the views, which the service writes in English and the page translates."""

SERVER_SENTENCES = {
    **{text: text for text in (
        next(text for text in TEXTS if text.startswith("Only the user")),
        "Results for “{words}”",
        "Run {name}",
        "There is no tool '{name}'.",
        "The note “{name}” has version {current}, not {version}: it was changed since you read it.",
        "{tool} cannot be part of an atomic batch.",
    )},
    "{field}: The {kind} “{name}” ({id}) is in the trash.": "{name} is in the trash.",
    "{field}: there is no {kind} “{name}”.": "{kind} not found: {name}.",
    "{field}: There is no {kind} {name}.": "{kind} not found: {name}.",
    "{field}: {number} {kind} are called “{name}”.": "{number} items are called {name}.",
}  # fmt: skip
"""Sentences of the service with values, and the texts that the page translates with these values."""
