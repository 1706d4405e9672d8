"""German: what was wrong with what a user of the page sent, and what to do next."""

TEXTS: dict[str, str] = {
    "Approve the script {name}? Its text has the digest {digest}.": (
        "Das Skript {name} freigeben? Sein Text hat die Prüfsumme {digest}."
    ),
    "Change one of the two.": "Ändere eines von beiden.",
    "Data source": "Quelle",
    "Did you mean {names}?": "Meinst du {names}?",
    "Check the path.": "Prüfe den Pfad.",
    "Choose another name.": "Wähle einen anderen Namen.",
    "Fill this field in.": "Fülle dieses Feld aus.",
    "It may have been deleted: look in the trash, or search for it.": (
        "Vielleicht ist es gelöscht: sieh im Papierkorb nach oder suche danach."
    ),
    "Item": "Eintrag",
    "Job": "Auftrag",
    "Journal entry": "Tagebucheintrag",
    "Schedule": "Zeitplan",
    "Write an address such as ana@example.org.": "Schreibe eine Adresse wie ana@example.org.",
    "Load the page again, and read the new text.": "Lade die Seite neu und lies den neuen Text.",
    "Open the list again.": "Öffne die Liste noch einmal.",
    "Some of it was changed again since; nothing was undone.": (
        "Etwas davon wurde seitdem noch einmal geändert; nichts wurde zurückgenommen."
    ),
    "The event ends before it begins.": "Der Termin endet, bevor er beginnt.",
    "The note {name} was changed since you opened it.": "Die Notiz {name} wurde geändert, seit du sie geöffnet hast.",
    "The script {name} was changed since it was shown; nothing was decided.": (
        "Das Skript {name} wurde geändert, seit es angezeigt wurde; nichts wurde entschieden."
    ),
    "There is no folder {name}.": "Es gibt keinen Ordner {name}.",
    "There is a project {name} already.": "Es gibt schon ein Projekt {name}.",
    "This is not a rule of repetition: {value}.": "Das ist keine Regel für Wiederholungen: {value}.",
    "This is not an e-mail address: {value}.": "Das ist keine E-Mail-Adresse: {value}.",
    "This part of the list is no longer there.": "Diesen Teil der Liste gibt es nicht mehr.",
    "Write a date such as 2026-05-31, 2026-05-31 15:00, today, friday 3pm, in 2 weeks or +3d.": (
        "Schreibe ein Datum wie 2026-05-31, 2026-05-31 15:00, today, friday 3pm, in 2 weeks oder +3d."
    ),
    "Write every day, every friday, every 2 weeks, or every month on the 1st.": (
        "Schreibe every day, every friday, every 2 weeks oder every month on the 1st."
    ),
    "{kind} not found: {name}.": "{kind} nicht gefunden: {name}.",
    "{name} has to be a number.": "{name} muss eine Zahl sein.",
    "{name} has to be at least {limit}.": "{name} muss mindestens {limit} sein.",
    "{name} may be at most {limit}.": "{name} darf höchstens {limit} sein.",
    "“{field}” is empty.": "„{field}“ ist leer.",
    "“{field}” is not a date: {value}.": "„{field}“ ist kein Datum: {value}.",
    "{name} is in the trash.": "{name} liegt im Papierkorb.",
    "Restore it first: see Trash.": "Stelle es zuerst wieder her: siehe Papierkorb.",
    "{name} is not in the trash: it was restored already.": (
        "{name} liegt nicht im Papierkorb: es ist schon wiederhergestellt."
    ),
    "{number} items are called {name}.": "{number} Einträge heißen {name}.",
    "Rename one of them, or open the one that you mean.": "Benenne einen davon um oder öffne den, den du meinst.",
    "“{field}” is too long: {size} characters, and at most {limit} are allowed.": (
        "„{field}“ ist zu lang: {size} Zeichen, erlaubt sind höchstens {limit}."
    ),
    "Shorten it.": "Kürze es.",
    "“{field}” has too many words: {size}, and at most {limit} are allowed.": (
        "„{field}“ hat zu viele Wörter: {size}, erlaubt sind höchstens {limit}."
    ),
    "Keep the few that matter.": "Behalte die wenigen, auf die es ankommt.",
    "“{field}” contains a character that cannot be stored.": (
        "„{field}“ enthält ein Zeichen, das nicht gespeichert werden kann."
    ),
    "Write the text again, without it.": "Schreibe den Text noch einmal, ohne dieses Zeichen.",
    "“{field}” cannot be {value}.": "„{field}“ kann nicht {value} sein.",
    "Load the page again, and choose another value.": "Lade die Seite neu und wähle einen anderen Wert.",
    "“{field}” is outside the years {first} to {last}: {value}.": (
        "„{field}“ liegt außerhalb der Jahre {first} bis {last}: {value}."
    ),
    "Choose a year between them.": "Wähle ein Jahr dazwischen.",
    "One of beginning and end has a time, the other has none.": "Von Beginn und Ende hat nur eines eine Uhrzeit.",
    "Give both a time, or neither for a whole day.": "Gib beiden eine Uhrzeit, oder keinem für einen ganzen Tag.",
    "A task cannot be under itself or its own subtask.": (
        "Eine Aufgabe kann nicht unter sich selbst oder ihrer eigenen Teilaufgabe stehen."
    ),
    "Choose another task.": "Wähle eine andere Aufgabe.",
    "A person cannot report to themselves.": "Niemand kann sich selbst unterstellt sein.",
    "Choose somebody else.": "Wähle jemand anderen.",
    "This change is not in the history: {name}.": "Diese Änderung steht nicht im Verlauf: {name}.",
    "Load the page again.": "Lade die Seite neu.",
    "This is undone already; nothing was changed.": "Das ist schon zurückgenommen; nichts wurde geändert.",
    "There is nothing left to undo.": "Es gibt nichts mehr zurückzunehmen.",
    "This is still being written; nothing was undone.": "Das wird noch geschrieben; nichts wurde zurückgenommen.",
    "Wait for its end, or stop it first.": "Warte auf das Ende oder halte es zuerst an.",
    "{name} is not a folder.": "{name} ist kein Ordner.",
    "Choose the folder that holds it.": "Wähle den Ordner, in dem es liegt.",
    "{name} belongs to Panorama's own data.": "{name} gehört zu Panoramas eigenen Daten.",
    "Choose the folder that holds your Markdown files.": "Wähle den Ordner mit deinen Markdown-Dateien.",
    "There is no file {name}.": "Es gibt keine Datei {name}.",
    "{name} contains no entities or relations.": "{name} enthält keine Einträge und keine Beziehungen.",
    "There is no time zone {name}.": "Es gibt keine Zeitzone {name}.",
    "Write a name such as Europe/Berlin.": "Schreibe einen Namen wie Europe/Berlin.",
}
