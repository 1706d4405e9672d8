"""German: what the settings are for."""

TEXTS: dict[str, str] = {
    "Data directory.": "Ordner der Daten.",
    "IANA name of your time zone.": "IANA-Name deiner Zeitzone.",
    "Groups of listed tools; more adds updates of links, reminders and journal, files reads and writes files, jobs "
    "keeps schedules, people keeps people and teams, sessions keeps meetings, calendar events, graph walks and "
    "measures the graph, apps shows views in a chat.": (
        "Gruppen von Werkzeugen, die gelistet werden: more ändert Links, Erinnerungen und Journal, files liest und "
        "schreibt Dateien, jobs verwaltet Zeitpläne, people Personen und Teams, sessions Treffen, calendar Termine, "
        "graph durchläuft und vermisst den Graphen, apps zeigt Ansichten im Chat."
    ),
    "Days to keep the call log.": "Wie viele Tage das Protokoll der Aufrufe aufbewahrt wird.",
    "Days an item stays in the trash before a purge deletes it.": (
        "Wie viele Tage ein Eintrag im Papierkorb bleibt, bevor er endgültig gelöscht wird."
    ),
    "Number of backups to keep in a folder; the next one removes older ones. 0 keeps all.": (
        "Wie viele Sicherungen ein Ordner behält; die nächste entfernt ältere. 0 behält alle."
    ),
    "Days to keep backups; the newest is always kept. 0 keeps them for ever.": (
        "Wie viele Tage Sicherungen bleiben; die neueste bleibt immer. 0 behält sie für immer."
    ),
    "Seconds a write waits for another program's lock on the database.": (
        "Wie viele Sekunden ein Schreibzugriff wartet, wenn ein anderes Programm die Datenbank sperrt."
    ),
    "Seconds the daemon keeps running after its last client disconnects.": (
        "Wie viele Sekunden der Hintergrunddienst weiterläuft, nachdem sich der letzte Client getrennt hat."
    ),
    "Also show reminders on the desktop (notify-send, osascript).": (
        "Erinnerungen auch auf dem Desktop zeigen (notify-send, osascript)."
    ),
    "Address of a PostgreSQL database that holds the data instead of the file in the data directory, such as "
    "postgresql://anna@db.example.org/panorama. Needs the extra postgres.": (
        "Adresse einer PostgreSQL-Datenbank, in der die Daten statt in der Datei im Ordner liegen, zum Beispiel "
        "postgresql://anna@db.example.org/panorama. Braucht das Extra postgres."
    ),
    "Whose data of that database this is: a space for each person or team, with its own rights.": (
        "Wessen Daten in dieser Datenbank gemeint sind: ein Bereich je Person oder Team, mit eigenen Rechten."
    ),
    "Port on this machine for MCP over HTTP; 0 for none.": "Port dieses Rechners für MCP über HTTP; 0 für keinen.",
    "Whether the dashboard of a project and the weekly review come with a chart, and scripts with the images that "
    "they return, for clients that show images: png for models too, svg for people only.": (
        "Ob die Übersicht eines Projekts und der Wochenrückblick ein Diagramm enthalten, und Skripte die Bilder, die "
        "sie zurückgeben, für Clients, die Bilder zeigen: png auch für Modelle, svg nur für Menschen."
    ),
    "Whether the web page is served as soon as the daemon starts, which then stays; otherwise panorama open starts "
    "it.": (
        "Ob es die Webseite gibt, sobald der Hintergrunddienst startet, der dann weiterläuft; sonst startet sie "
        "panorama open."
    ),
    "Port on this machine of the web page; 0 for its last one, or any free one.": (
        "Port der Webseite auf diesem Rechner; 0 für den letzten oder irgendeinen freien."
    ),
    "The least isolation that scripts need: language-only (a separate process and an allow-listed language), "
    "seatbelt (macOS, untested), or on Linux seccomp or seccomp+landlock (the kernel refuses everything but "
    "computing). Where the machine offers less, scripts are refused.": (
        "Die Abschottung, die Skripte mindestens brauchen: language-only (ein eigener Prozess und eine Sprache mit "
        "Positivliste), seatbelt (macOS, ungetestet), oder unter Linux seccomp oder seccomp+landlock (der Kern "
        "verweigert alles außer Rechnen). Bietet der Rechner weniger, werden Skripte abgelehnt."
    ),
    "Model that search by meaning uses: duo, minilm, static, ollama:<model> or openai:<address>#<model>; none turns "
    "it off. Empty for the best that this machine can run.": (
        "Modell der Suche nach Bedeutung: duo, minilm, static, ollama:<Modell> oder openai:<Adresse>#<Modell>; none "
        "schaltet sie aus. Leer für das beste, das auf diesem Rechner läuft."
    ),
    "Index of vectors without a server: edge (Qdrant Edge), exact (numpy, in memory).": (
        "Index der Vektoren ohne Server: edge (Qdrant Edge), exact (numpy, im Arbeitsspeicher)."
    ),
    "Address of a Qdrant server that keeps the vectors instead, such as http://localhost:6333.": (
        "Adresse eines Qdrant-Servers, der die Vektoren stattdessen hält, zum Beispiel http://localhost:6333."
    ),
    "API key of that server; beyond this machine it needs https://.": (
        "API-Schlüssel dieses Servers; über diesen Rechner hinaus braucht er https://."
    ),
    "Whether the vectors of all spaces of that server are in one collection per model, separated by a field, for "
    "hundreds of spaces; otherwise each space has its own.": (
        "Ob die Vektoren aller Bereiche dieses Servers je Modell in einer Sammlung liegen, durch ein Feld getrennt, "
        "für Hunderte Bereiche; sonst hat jeder Bereich seine eigene."
    ),
    "Compressed copies of the vectors in a new collection, by which candidates are found before the vectors rank "
    "them: scalar (a byte per dimension), turbo (half of that; Qdrant 1.18) or off.": (
        "Komprimierte Kopien der Vektoren einer neuen Sammlung, mit denen Kandidaten gefunden werden, bevor die "
        "Vektoren sie ordnen: scalar (ein Byte je Dimension), turbo (halb so viel; Qdrant 1.18) oder off."
    ),
    "On how many nodes of a Qdrant cluster a new collection is stored.": (
        "Auf wie vielen Knoten eines Qdrant-Clusters eine neue Sammlung liegt."
    ),
    "How many of these must have stored a write before it counts; at most qdrant_replicas.": (
        "Wie viele davon einen Schreibvorgang gespeichert haben müssen, bevor er gilt; höchstens qdrant_replicas."
    ),
    "Bucket and prefix of an S3-compatible store for the contents of files, such as s3://team-files/panorama. Needs "
    "the extra s3.": (
        "Bucket und Präfix eines S3-kompatiblen Speichers für die Inhalte von Dateien, zum Beispiel "
        "s3://team-files/panorama. Braucht das Extra s3."
    ),
    "Address of that store, such as https://minio.example.org; empty for Amazon's.": (
        "Adresse dieses Speichers, zum Beispiel https://minio.example.org; leer für den von Amazon."
    ),
    "Region of the bucket.": "Region des Buckets.",
    "Access key id for the bucket; empty for the machine's own credentials.": (
        "Id des Zugriffsschlüssels für den Bucket; leer für die Zugangsdaten dieses Rechners."
    ),
    "Secret access key for the bucket.": "Geheimer Zugriffsschlüssel für den Bucket.",
}
