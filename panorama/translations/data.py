"""German: sources, settings, imports and files."""

TEXTS: dict[str, str] = {
    "1 byte": "1 Byte",
    "1 conversation": "1 Gespräch",
    "1 file attached": "1 Datei angehängt",
    "1 file to import": "1 Datei zum Importieren",
    "1 script": "1 Skript",
    "A file may have at most {limit} MB.": "Eine Datei darf höchstens {limit} MB haben.",
    "after the next start": "nach dem nächsten Start",
    "All functions of {name}": "Alle Funktionen von {name}",
    "All its functions": "Alle Funktionen",
    "Allow": "Erlauben",
    "any address": "jede Adresse",
    "Ask": "Fragen",
    "Attach": "Anhängen",
    "Attachments": "Anhänge",
    "Belongs to": "Gehört zu",
    "Calls of {name}": "Aufrufe von {name}",
    "Changes are written to config.toml and take effect when the daemon starts again.": (
        "Änderungen stehen in config.toml und gelten, wenn der Dienst wieder startet."
    ),
    "Choose .md files, or one memory.jsonl.": "Wähle .md-Dateien oder eine memory.jsonl.",
    "Choose 1 to {limit}.": "Wähle 1 bis {limit}.",
    "Choose files, or drop them here": "Dateien wählen oder hier ablegen",
    "Connect an MCP server or a web service in a terminal: panorama sources add": (
        "Verbinde einen MCP-Server oder einen Webdienst in einem Terminal: panorama sources add"
    ),
    "Decided: {title}": "Entschieden: {title}",
    "Delete {title}": "{title} löschen",
    "deletes": "löscht",
    "Deny": "Verbieten",
    "Disabled": "Abgeschaltet",
    "Download": "Herunterladen",
    "Download the file to open it in its program.": "Lade die Datei herunter, um sie in ihrem Programm zu öffnen.",
    "Download {title}": "{title} herunterladen",
    "Functions that match {pattern}": "Funktionen, die {pattern} entsprechen",
    "The import runs in the background": "Der Import läuft im Hintergrund",
    "Imports": "Importe",
    "Imports so far": "Bisherige Importe",
    "Its functions are read when a script first looks for them, or with:": (
        "Seine Funktionen werden gelesen, wenn ein Skript sie zuerst sucht, oder mit:"
    ),
    "Markdown with its pictures, or the memory.jsonl of the MCP server memory. At most {files} files, {total} MB.": (
        "Markdown mit Bildern, oder die memory.jsonl des MCP-Servers memory. Höchstens {files} Dateien, {total} MB."
    ),
    "No sources": "Keine Quellen",
    "No text to show": "Kein Text zum Anzeigen",
    "Not read yet": "Noch nicht gelesen",
    "off": "aus",
    "on": "an",
    "Only the beginning is shown. The download has the whole file.": (
        "Nur der Anfang ist zu sehen. Die heruntergeladene Datei ist vollständig."
    ),
    "other people": "andere Leute",
    "Ready": "Bereit",
    "Relations": "Beziehungen",
    "Remove this rule": "Diese Regel entfernen",
    "Rename it.": "Benenne sie um.",
    "Send them one after another.": "Sende sie nacheinander.",
    "Sources": "Quellen",
    "Sources are added and removed in a terminal, because that starts programs: panorama sources add.": (
        "Quellen werden in einem Terminal hinzugefügt und entfernt, weil das Programme startet: panorama sources add."
    ),
    "Revoke what conversations were allowed": "Zurücknehmen, was Gesprächen erlaubt wurde",
    "Taken back": "Zurückgenommen",
    "The longest pattern wins, deny before ask before allow.": (
        "Das längste Muster zählt, Verbieten vor Fragen vor Erlauben."
    ),
    "There is no Markdown file among them.": "Es ist keine Markdown-Datei dabei.",
    "These files are too large together.": "Zusammen sind diese Dateien zu groß.",
    "this machine": "dieser Rechner",
    "Two files are called {name}.": "Zwei Dateien heißen {name}.",
    "Unchanged": "Unverändert",
    "Unchanged files": "Unveränderte Dateien",
    "Up to {files} files of at most {limit} MB each, {total} MB together.": (
        "Bis zu {files} Dateien mit je höchstens {limit} MB, zusammen {total} MB."
    ),
    "Settings of where texts are sent and how scripts are isolated can be changed only in the file.": (
        "Was entscheidet, wohin Texte gehen und wie Skripte abgeschottet sind, wird nur in der Datei geändert."
    ),
    "What scripts may call outside of Panorama: allowed, asked first, or never": (
        "Was Skripte außerhalb von Panorama aufrufen dürfen: erlaubt, nach Frage, oder nie"
    ),
    "What to know": "Was zu wissen ist",
    "without network": "ohne Netz",
    "your own account": "dein eigenes Konto",
    "{name} cannot be imported.": "{name} kann nicht importiert werden.",
    "{name} is too large.": "{name} ist zu groß.",
    "{number} bytes": "{number} Bytes",
    "{number} conversations": "{number} Gespräche",
    "{number} files attached": "{number} Dateien angehängt",
    "{number} files to import": "{number} Dateien zum Importieren",
    "{number} files were chosen.": "{number} Dateien sind gewählt.",
    "{number} more functions are not shown; panorama sources test lists them.": (
        "{number} weitere Funktionen sind nicht zu sehen; panorama sources test listet sie."
    ),
    "{number} scripts": "{number} Skripte",
    "Undo the later changes first, in the history.": "Nimm zuerst die späteren Änderungen zurück, im Verlauf.",
    "Your text is still here: copy it, open the note again, and paste it.": (
        "Dein Text ist noch hier: kopiere ihn, öffne die Notiz noch einmal und füge ihn ein."
    ),
}
