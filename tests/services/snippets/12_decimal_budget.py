# expect: {"total": "1729.35", "share": {"Hob": "75.11", "Oil": "1.71", "Tap": "23.18"}}
from decimal import Decimal, ROUND_HALF_UP
import re

sdk.notes.create("Budget", """
| Item | Price |
|------|------:|
| Hob  | 1299.00 |
| Tap  | 400.80 |
| Oil  | 29.55 |
""")

text = sdk.notes.text("Budget")
prices = {name: Decimal(value) for name, value in re.findall(r"^\| (\w+)\s+\| ([\d.]+) \|$", text, re.M)}
total = sum(prices.values(), Decimal("0"))
share = {
    name: str((price * 100 / total).quantize(Decimal("0.01"), rounding=ROUND_HALF_UP))
    for name, price in sorted(prices.items())
}
return {"total": f"{total:.2f}", "share": share}
