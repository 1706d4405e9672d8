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
}
