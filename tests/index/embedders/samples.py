"""Texts that are hard to cut into pieces."""

import random

CORNERS = (
    "",
    " \t\n\r ",
    "Hello, World!",
    "unaffable Embeddings electroencephalography",
    "Café Zürich naïve Ångström İstanbul",
    "ΟΔΥΣΣΕΥΣ ὈΔΥΣΣΕΎΣ σς",
    "東京タワー and 北京市 mixed",
    "한국어 문장",
    "हिन्दी में",
    "العربية مُشَكَّلَة",
    "שָׁלוֹם",
    "ﬁ ﬂ ½ ² Ⅷ ß ẞ ﷺ",
    "a\x00b\x01c\u200bd\u200de\ufefff\ufffdg",
    "a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g\u00a0h\u3000i",
    "🙂👩‍👩‍👧‍👦🇩🇪🥰",
    "e\u0301 vs é, o\u0308\u0323",
    "x" * 100,
    "x" * 101,
    "http://example.org/a_b-c?d=e&f=%20#g",
    "$5.00 + 3€ = £7¥ `code` ~tilde~ ^caret^ |pipe| <tag/>",
    "I'm can't o'clock — “quoted” ‘single’ … ellipsis",
    "[CLS] [SEP] [MASK] [UNK] [PAD] [unused1]",
    "3.14159 1,000,000 2026-05-20T10:00:00Z v1.2.3-rc1",
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ abcdefghijklmnopqrstuvwxyz 0123456789",
    "supercalifragilisticexpialidocious antidisestablishmentarianism",
    "豈更車 \U0002f800 \U00020000",
    "ǅ ǈ ﬀ Ǆ ŉ",
    "ⅣⅤ ①② ㍿ ﾊﾝｶｸ ＦＵＬＬ",
    "¿Qué? ¡Sí! «Oui» ‹Non› „Ja“",
    "᠎a؜b\u2060c\u00add",
)

_ALPHABETS = (
    "abcdefghijklmnopqrstuvwxyz     ",
    "ABCXYZ äöüßéèñçÅØŁ şğİı ",
    "αβγΣσς ΑΩ άέ абвгЯЮ Ёй ",
    "漢字東京 かなカナ 한글 ",
    "אבג שׁ ابج مُ हिंदी ไทย ",
    "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ \t\n¿¡«»…—",
    "🙂🎉❤️👍🏽\u200d\u200b\u00ad\ufeff\x00\x07 ",
    "0123456789.,-/:% ",
)


def make_texts(count: int) -> list[str]:
    """Return texts drawn from several alphabets by a fixed seed."""
    chance = random.Random(7)
    return [
        "".join(chance.choice(chance.choice(_ALPHABETS[: chance.randint(1, 8)])) for _ in range(chance.randint(1, 80)))
        for _ in range(count)
    ]
