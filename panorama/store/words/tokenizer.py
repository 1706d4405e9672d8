"""The form in which an index of words stores a word: cut and stemmed by SQLite's FTS5, whatever the database is."""

import sqlite3
import threading
from collections.abc import Sequence
from functools import cache, lru_cache


class Tokenizer:
    """FTS5's own tokenizer in an in-memory database, which returns the indexed form of a word."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._database = sqlite3.connect(":memory:", check_same_thread=False, isolation_level=None)
        tokenize = "porter unicode61 remove_diacritics 2"
        self._database.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, tokenize = '{tokenize}')")
        self._database.execute("CREATE VIRTUAL TABLE places USING fts5vocab(words, instance)")

    def stems(self, words: str) -> tuple[str, ...]:
        """Return the indexed forms of the words of a text, in order."""
        return self.stems_of_each([words])[0]

    def stems_of_each(self, texts: Sequence[str]) -> list[tuple[str, ...]]:
        """Return the indexed forms of the words of each of some texts."""
        stems: dict[int, tuple[str, ...]] = dict.fromkeys(range(len(texts)), ())
        with self._lock:
            self._database.execute("BEGIN")
            try:
                self._database.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", enumerate(texts))
                for number, term in self._database.execute('SELECT doc, term FROM places ORDER BY doc, "offset"'):
                    stems[number] += (term,)
            finally:
                self._database.execute("ROLLBACK")  # cheaper than deleting the words
        return list(stems.values())


get_tokenizer = cache(Tokenizer)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """Return the form in which the index stores a word, "" if it is not a single word."""
    stems = get_tokenizer().stems(word)
    return stems[0] if len(stems) == 1 else ""


def stem_words(words: list[str]) -> dict[str, str]:
    """Return the forms in which the index stores some words, by word; one by one only if some are not single words."""
    stems = get_tokenizer().stems(" ".join(words))
    return dict(zip(words, stems, strict=True)) if len(stems) == len(words) else {word: stem(word) for word in words}
