# expect: [["Buy new running shoes", "Buy running shoes"], ["Call the dentist", "Call dentist"]]
from difflib import SequenceMatcher
from itertools import combinations

for title in ["Buy running shoes", "Buy new running shoes", "Call dentist", "Call the dentist", "Water plants"]:
    sdk.tasks.create(title=title)

pairs = []
titles = [t.title for t in sdk.tasks.list()]
for a, b in combinations(sorted(titles), 2):
    ratio = SequenceMatcher(None, a.lower(), b.lower()).ratio()
    if ratio > 0.8:
        pairs.append((round(ratio, 2), a, b))

pairs.sort(reverse=True)
[sorted([a, b], key=len, reverse=True) for _, a, b in sorted(pairs, key=lambda p: (-len(p[1]), p[1]))]
