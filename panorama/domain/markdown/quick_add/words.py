"""The words that decide whether a date in a title is the deadline of a task, in English and German."""

from typing import Final

from panorama.domain.time.calendar_words import WEEKDAYS

EVERYDAY: Final = frozenset(
    ("sun", "sat", "so", "do", "mi", "di", "fr", "mo", "sa", "may", "mai", "march", "mar", "second", "now", "jetzt",
     "day", "tag", "weekend", "wochenende")
)  # fmt: skip
"""Words that mean something else, or no day for a task, when they are alone."""

ORIGINS: Final = frozenset(("from", "since", "vom", "seit"))
"""A day after one of these words is over, or the beginning of something."""

NOT_BEFORE_DAYS: Final = ORIGINS.union(
    ("black", "good", "cyber", "ash", "palm", "easter", "the", "a", "my", "our", "your", "der", "die", "das", "to",
     "for", "with", "about", "after", "auf", "an", "für", "mit", "über", "nach", "mr", "mrs", "ms", "miss", "dr",
     "herr", "herrn", "frau", "familie")
)  # fmt: skip
"""A day after one of these words is a holiday, part of a noun or name, or the object of another preposition."""

CHOICES: Final = frozenset(("last", "this", "next"))
"""Words that belong to the day after them: if they are no date together, neither is the day alone."""

EVERY_WORDS: Final = frozenset(
    (
        "every",
        "each",
        "other",
        "first",
        "second",
        "third",
        "fourth",
        "jeden",
        "jede",
        "jedes",
        "jeder",
        "alle",
        "erste",
        "ersten",
        "erster",
        "zweiten",
        "dritten",
        "vierten",
    )
)
"""A single day after one of these words is not what they mean."""

PERIOD_WORDS: Final = frozenset(("end", "start", "beginning", "mid", "middle", "eom", "eoy", "eow"))
"""English words at the beginning of a period, which is part of a noun before another word: “end of year report”."""

MONTH_NAMES: Final = frozenset(("january", "march", "april", "may", "june", "august"))
"""Months that are names or verbs, too: “ask Jan 5 questions”."""

LINKS: Final = frozenset(("and", "or", "to", "until", "till", "und", "oder", "bis", "-", "–"))
"""Words between two days, of which neither is the deadline."""

AFTER_DAYS: Final = frozenset(
    ("about", "and", "at", "by", "for", "from", "in", "on", "or", "to", "via", "with", "an", "auf", "bei", "für", "im",
     "in", "mit", "nach", "oder", "um", "und", "wegen", "zu", "zum", "zur", "-", "–")
)  # fmt: skip
"""Words that begin a new part of a sentence, so that a day before them is no part of a name."""

IS: Final = frozenset(("is", "was", "are", "ist", "war", "wird"))
"""Verbs whose subject is the day before them."""

GERMAN_WEEKDAYS: Final = frozenset(
    ("montag", "dienstag", "mittwoch", "donnerstag", "freitag", "samstag", "sonnabend", "sonntag")
)  # fmt: skip
DAY_NAMES: Final = GERMAN_WEEKDAYS.union(WEEKDAYS)
ENGLISH_NAMES: Final = frozenset((*WEEKDAYS, "today", "tomorrow", "morning", "afternoon", "evening", "night"))
"""Words that are a part of many English names; German writes its days with a capital anyway."""

EXCEPTIONS: Final = frozenset(("except", "excluding", "unless", "außer", "ausser"))
"""Words after a repetition that exclude days from it."""
ENDINGS: Final = frozenset(("until", "till", "bis"))
"""Words after a repetition that end it."""
CONTRASTS: Final = frozenset(("but", "not", "nicht"))
"""Words that exclude the day after them from a repetition."""
NEGATIONS: Final = EXCEPTIONS.union(
    ("not", "never", "no", "nicht", "nie", "than", "or", "least", "most", "only", "from")
)
"""After one of these words a repetition is what does not happen, or part of a comparison."""

AND_WORDS: Final = frozenset(("and", "und", "&", "+"))
PLACE_LINKS: Final = frozenset(("on", "in", "am", "im", "zum"))
"""Words between an adverb such as “weekly” and its day."""
ARTICLES: Final = frozenset(("the", "der", "den", "dem", "des", "of"))

STARTS: Final = frozenset(("starting", "beginning", "from"))
"""Words before the day on which a repetition starts."""

NUMBERED: Final = frozenset(
    ("kapitel", "abschnitt", "punkt", "aufgabe", "raum", "teil", "seite", "folge", "bild", "nr", "nr.", "version",
     "chapter", "section", "room", "part", "page", "episode", "exercise", "release", "§")
)  # fmt: skip
"""Nouns before a number with points that is no date: “Kapitel 3.4.”."""

GERMAN_DAYS: Final = GERMAN_WEEKDAYS.union(("mo", "di", "mi", "do", "fr", "sa", "so"))
BEFORE_NO_DAY: Final = frozenset(("den", "dem", "des", "vor"))
"""A date after one of these words is part of a noun, or only a limit: “die Straße des 17. Juni”, “vor Weihnachten”."""
LATER: Final = frozenset(("danach", "darauf", "davor"))
CLAUSES: Final = frozenset(("that", "which", "who", "whether", "why", "ob", "warum", "dass"))
RELATIVE_PRONOUNS: Final = frozenset(("der", "die", "das", "dem", "den", "ob", "warum", "wer", "wann", "wenn"))
"""Words that begin a clause, in which a repetition is only mentioned; the pronouns after a comma."""
