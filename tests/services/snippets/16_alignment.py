# expect: "Ananas    |    3 |  12.50%\nBirne     |   21 |  87.50%\n----------+------+--------\nTotal     |   24 | 100.00%"
for fruit, n in {"Ananas": 3, "Birne": 21}.items():
    sdk.journal.create(f"ate {n} x {fruit}")

import re
counts: dict[str, int] = {}
for entry in sdk.journal.list():
    m = re.fullmatch(r"ate (\d+) x (\w+)", entry.text)
    if m:
        counts[m[2]] = counts.get(m[2], 0) + int(m[1])

total = sum(counts.values())
rows = [f"{name:<10}|{n:>5} |{n / total:>8.2%}" for name, n in sorted(counts.items())]
rows.append("-" * 10 + "+" + "-" * 6 + "+" + "-" * 8)
rows.append(f"{'Total':<10}|{total:>5} |{1:>8.2%}")
return "\n".join(rows)
