"""Maps the words of dates and times, in English and German, to one vocabulary, so that one grammar serves both."""

import re
from collections.abc import Mapping
from typing import Final

WEEKDAYS: Final = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
MONTHS: Final = (
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october", "november",
    "december",
)  # fmt: skip

NAMED_DAYS: Final[Mapping[str, int]] = {
    "today": 0, "heute": 0, "tomorrow": 1, "morgen": 1, "day after tomorrow": 2, "uebermorgen": 2,
    "yesterday": -1, "gestern": -1, "day before yesterday": -2, "vorgestern": -2,
}  # fmt: skip
"""Days from today."""

PARTS_OF_DAY: Final[Mapping[str, int]] = {
    "morning": 9, "morgen": 9, "morgens": 9, "vormittag": 10, "vormittags": 10, "frueh": 8, "noon": 12, "midday": 12,
    "mittag": 12, "mittags": 12, "afternoon": 15, "nachmittag": 15, "nachmittags": 15, "evening": 19, "abend": 19,
    "abends": 19, "night": 20,
}  # fmt: skip
"""The hour that each means by itself."""

_HOLIDAYS: Mapping[str, tuple[int, int]] = {
    "christmas eve": (12, 24), "heiligabend": (12, 24), "christmas": (12, 25), "christmas day": (12, 25),
    "xmas": (12, 25), "weihnachten": (12, 25), "boxing day": (12, 26), "new year's eve": (12, 31),
    "new years eve": (12, 31), "silvester": (12, 31), "new year's day": (1, 1), "new years day": (1, 1),
    "new year": (1, 1), "neujahr": (1, 1), "valentine's day": (2, 14), "valentines day": (2, 14),
    "valentinstag": (2, 14), "halloween": (10, 31), "nikolaus": (12, 6), "tag der deutschen einheit": (10, 3),
    "tag der arbeit": (5, 1), "maifeiertag": (5, 1), "erster weihnachtstag": (12, 25),
    "zweiter weihnachtstag": (12, 26), "1. weihnachtstag": (12, 25), "2. weihnachtstag": (12, 26),
}  # fmt: skip
"""Month and day of holidays on a fixed date."""

_EASTER_DAYS: Mapping[str, int] = {
    "rosenmontag": -48, "ash wednesday": -46, "aschermittwoch": -46, "palm sunday": -7, "palmsonntag": -7,
    "maundy thursday": -3, "gruendonnerstag": -3, "good friday": -2, "karfreitag": -2, "karsamstag": -1, "easter": 0,
    "easter sunday": 0, "ostern": 0, "ostersonntag": 0, "easter monday": 1, "ostermontag": 1, "ascension day": 39,
    "himmelfahrt": 39, "christi himmelfahrt": 39, "pentecost": 49, "whit sunday": 49, "pfingsten": 49,
    "pfingstsonntag": 49, "whit monday": 50, "pfingstmontag": 50, "fronleichnam": 60,
}  # fmt: skip
"""Holidays by their days from Easter Sunday."""

_OTHER_WEEKDAYS = (
    "mon montag mo", "tues tue dienstag di", "weds wed mittwoch mi", "thurs thur thu donnerstag do", "fri freitag fr",
    "sat samstag sonnabend sa", "sun sonntag so",
)  # fmt: skip
_OTHER_MONTHS = (
    "jan januar jaenner", "feb februar", "mar maerz mrz", "apr", "mai", "jun juni", "jul juli", "aug", "sept sep",
    "oct oktober okt", "nov", "dec dezember dez",
)  # fmt: skip


def _list_words(text: str) -> list[str]:
    return text.split()


_ENGLISH = _list_words(
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen twenty"
)
_GERMAN = _list_words(
    "ein zwei drei vier fuenf sechs sieben acht neun zehn elf zwoelf dreizehn vierzehn fuenfzehn sechzehn "
    "siebzehn achtzehn neunzehn zwanzig"
)
_ENGLISH_ORDINALS = _list_words(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth "
    "fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
_GERMAN_ORDINALS = _list_words(
    "erst zweit dritt viert fuenft sechst siebt acht neunt zehnt elft zwoelft dreizehnt vierzehnt "
    "fuenfzehnt sechzehnt siebzehnt achtzehnt neunzehnt zwanzigst"
)
_ENDINGS = ("e", "en", "em", "er", "es")

_ORDINALS: Mapping[str, int] = {
    **{word: number for number, word in enumerate(_ENGLISH_ORDINALS, 1)},
    **{f"twenty-{word}": 20 + number for number, word in enumerate(_ENGLISH_ORDINALS[:9], 1)},
    **{stem + ending: number for number, stem in enumerate(_GERMAN_ORDINALS, 1) for ending in _ENDINGS},
    **{f"{stem}undzwanzigst{ending}": 20 + number for number, stem in enumerate(_GERMAN[:9], 1) for ending in _ENDINGS},
    "thirtieth": 30, "thirty-first": 31,
    **{f"dreissigst{ending}": 30 for ending in _ENDINGS}, **{f"einunddreissigst{ending}": 31 for ending in _ENDINGS},
}  # fmt: skip

PLURAL_WEEKDAYS: Final[Mapping[str, str]] = {
    **{f"{day}s": day for day in WEEKDAYS},
    **{f"{word}s": day for day, others in zip(WEEKDAYS, _OTHER_WEEKDAYS, strict=True) for word in others.split()
       if word.endswith(("tag", "woch", "abend"))},
}  # fmt: skip
"""The weekday of “mondays” and “montags”, which mean every one."""

_WORDS: dict[str, str] = {
    **dict.fromkeys(("tmrw", "tmr", "2morrow", "tomorow", "tommorow", "tommorrow"), "tomorrow"),
    **{word: day for day, others in zip(WEEKDAYS, _OTHER_WEEKDAYS, strict=True) for word in others.split()},
    **{word: month for month, others in zip(MONTHS, _OTHER_MONTHS, strict=True) for word in others.split()},
    **{word: str(number) for words in (_ENGLISH, _GERMAN) for number, word in enumerate(words, 1)},
    **{f"twenty-{word}": str(20 + number) for number, word in enumerate(_ENGLISH[:9], 1)},
    **{f"{word}undzwanzig": str(20 + number) for number, word in enumerate(_GERMAN[:9], 1)},
    "eins": "1", "thirty": "30", "dreissig": "30", **{f"ein{ending}": "1" for ending in _ENDINGS},
    **{word: f"{number}th" for word, number in _ORDINALS.items()},
    **{f"{stem}{ending}": "next" for stem in ("naechst", "kommend") for ending in _ENDINGS}, "coming": "next",
    **{f"{stem}{ending}": "last" for stem in ("letzt", "vergangen") for ending in _ENDINGS}, "past": "last",
    **{f"dies{ending}": "this" for ending in _ENDINGS},
    **dict.fromkeys(("minutes", "mins", "min", "minuten"), "minute"),
    **dict.fromkeys(("hours", "hr", "hrs", "stunde", "stunden", "std"), "hour"),
    **dict.fromkeys(("days", "tag", "tage", "tagen", "tages"), "day"),
    **dict.fromkeys(("weeks", "wk", "wks", "woche", "wochen"), "week"), "fortnights": "fortnight",
    **dict.fromkeys(("months", "monat", "monate", "monaten", "monats"), "month"),
    **dict.fromkeys(("years", "yr", "yrs", "jahr", "jahre", "jahren", "jahres"), "year"),
    **dict.fromkeys(("quartals", "quartal", "quarters"), "quarter"), "wochenende": "weekend", "ende": "end",
    "anfang": "start", "beginning": "start", "mitte": "middle", "mid": "middle", "und": "and", "im": "in",
    "kalenderwoche": "kw",
    **dict.fromkeys(("the", "den", "der", "dem", "des", "of"), ""),
}  # fmt: skip
"""The vocabulary word of each word; "" for words that are ignored."""

_PHRASES = {
    "an hour and a half": "90 minute", "one and a half hours": "90 minute", "anderthalb stunden": "90 minute",
    "half an hour": "30 minute", "a half hour": "30 minute", "half a year": "6 month",
    "einer halben stunde": "30 minute", "einem halben jahr": "6 month", "einer viertelstunde": "15 minute",
    "a quarter of an hour": "15 minute", "einer dreiviertelstunde": "45 minute",
    "einer dreiviertel stunde": "45 minute", "three quarters of an hour": "45 minute", "a couple of": "2",
    "tonight": "today night", "last night": "yesterday night", "this morning": "today morning",
    "this afternoon": "today afternoon", "this evening": "today evening", "this coming": "next",
    "calendar week": "kw", "cw": "kw", "midweek": "middle week",
    "no later than": "by", "monatsende": "end month", "jahresende": "end year", "quartalsende": "end quarter",
    "close of business": "end day", "cob": "end day", "eod": "end day", "eow": "end week",
    "uebernaechste woche": "week after next", "uebernaechster woche": "week after next", "eom": "end month",
    "eoy": "end year", **{f"uebernaechst{ending}": "after next" for ending in ("e", "er", "en", "em", "es")},
}  # fmt: skip
"""Phrases that are replaced before the words are mapped."""

_UMLAUTS = str.maketrans({"ä": "ae", "ö": "oe", "ü": "ue", "ß": "ss", "’": "'", ",": " "})
_PHRASE = re.compile("(?<![a-z])(?:" + "|".join(sorted(_PHRASES, key=len, reverse=True)) + ")(?![a-z])")
_HALVES = re.compile(r"(?<![\d.,])(\d{1,2})[.,]5 ?(?:h|hrs?|hours?|std|stunden?)(?![a-z])")
_SUFFIX = re.compile(r"(\d+)(?:st|nd|rd)")
_JOINT = re.compile(r"(?<=\d)-(?=[a-z])|(?<=[a-z])-(?=\d)|(?<=mid)-|(?<=mitte)-")
_AMOUNT = frozenset({"minute", "hour", "day", "week", "fortnight", "month", "year"})


def read_words(text: str) -> list[str]:
    """Return the words of a text, mapped to the vocabulary: “in einer Woche” becomes `in`, `1`, `week`."""
    text = _HALVES.sub(lambda match: f"{int(match[1]) * 60 + 30} minute", text.lower())
    text = _PHRASE.sub(lambda match: _PHRASES[match[0]], text.translate(_UMLAUTS))
    words = [part for word in _JOINT.sub(" ", text).split() for part in _split_compound(word)]
    if len(words) == 1 and words[0] in _ORDINALS:  # “second” alone is no day
        return words
    read = [_read_word(word) for word in words]
    for at, word in enumerate(read[:-1]):
        if word in ("a", "an") and read[at + 1] in _AMOUNT:
            read[at] = "1"
    return [word for word in read if word]


def _read_word(word: str) -> str:
    if word[:-1].isalpha() and word[-1] in ".'":
        word = word[:-1]
    return _WORDS[word] if word in _WORDS else _SUFFIX.sub(r"\1th", word)


def _split_compound(word: str) -> list[str]:
    """Return freitagabend as two words."""
    for part in PARTS_OF_DAY:
        day = word.removesuffix(part)
        if day != word and _WORDS.get(day) in WEEKDAYS:
            return [day, part]
    return [word]


HOLIDAYS: Final[Mapping[str, tuple[int, int]]] = {" ".join(read_words(name)): day for name, day in _HOLIDAYS.items()}
"""Month and day of holidays on a fixed date, by their mapped words."""

EASTER_DAYS: Final[Mapping[str, int]] = {" ".join(read_words(name)): days for name, days in _EASTER_DAYS.items()}
"""Days from Easter Sunday of the holidays that move with it, by their mapped words."""
