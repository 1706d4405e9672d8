"""German: sources, settings, imports and files."""

TEXTS: dict[str, str] = {
    "1 conversation": "1 Gespräch",
    "1 script": "1 Skript",
    "All functions of {name}": "Alle Funktionen von {name}",
    "All its functions": "Alle Funktionen",
    "Allow": "Erlauben",
    "Ask": "Fragen",
    "Attachments": "Anhänge",
    "Calls of {name}": "Aufrufe von {name}",
    "Changes are written to config.toml and count when the daemon starts again.": (
        "Änderungen stehen in config.toml und gelten, wenn der Dienst wieder startet."
    ),
    "Connect an MCP server or a web service in a terminal: panorama sources add": (
        "Verbinde einen MCP-Server oder einen Webdienst in einem Terminal: panorama sources add"
    ),
    "Decided: {title}": "Entschieden: {title}",
    "Deny": "Verbieten",
    "Disabled": "Abgeschaltet",
    "Functions that match {pattern}": "Funktionen, die {pattern} entsprechen",
    "Imports": "Importe",
    "Imports so far": "Bisherige Importe",
    "Its functions are read when a script first looks for them, or with:": (
        "Seine Funktionen werden gelesen, wenn ein Skript sie zuerst sucht, oder mit:"
    ),
    "No sources": "Keine Quellen",
    "Not read yet": "Noch nicht gelesen",
    "Ready": "Bereit",
    "Remove this rule": "Diese Regel entfernen",
    "Sources": "Quellen",
    "Sources are added and removed in a terminal, because that starts programs: panorama sources add.": (
        "Quellen werden in einem Terminal hinzugefügt und entfernt, weil das Programme startet: panorama sources add."
    ),
    "Take back what conversations were allowed": "Zurücknehmen, was Gesprächen erlaubt wurde",
    "Taken back": "Zurückgenommen",
    "The longest pattern counts, deny before ask before allow.": (
        "Das längste Muster zählt, Verbieten vor Fragen vor Erlauben."
    ),
    "Unchanged files": "Unveränderte Dateien",
    "What decides where texts are sent, and how scripts are isolated, is changed in the file alone.": (
        "Was entscheidet, wohin Texte gehen und wie Skripte abgeschottet sind, wird nur in der Datei geändert."
    ),
    "What scripts may call outside of Panorama: allowed, asked first, or never": (
        "Was Skripte außerhalb von Panorama aufrufen dürfen: erlaubt, nach Frage, oder nie"
    ),
    "What to know": "Was zu wissen ist",
    "after the next start": "nach dem nächsten Start",
    "any address": "jede Adresse",
    "deletes": "löscht",
    "off": "aus",
    "on": "an",
    "other people": "andere Leute",
    "this machine": "dieser Rechner",
    "without network": "ohne Netz",
    "your own account": "dein eigenes Konto",
    "{number} conversations": "{number} Gespräche",
    "{number} more functions are not shown; panorama sources test lists them.": (
        "{number} weitere Funktionen sind nicht zu sehen; panorama sources test listet sie."
    ),
    "{number} scripts": "{number} Skripte",
}
