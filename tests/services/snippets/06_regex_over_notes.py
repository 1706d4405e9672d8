# expect: [["Hob", "1299.00"], ["Hob", "89.50"], ["Worktop", "640.00"]]
import re

PRICE = re.compile(r"(?:EUR|€)\s*(?P<amount>\d+(?:[.,]\d{2})?)", re.IGNORECASE)

sdk.notes.create("Hob", "Induction hob: € 1299, delivery eur 89,50.")
sdk.notes.create("Worktop", "Oak. EUR 640.00 with oil\n\nPhone 0043 5574 12")
sdk.notes.create("Nothing", "No prices here")

found = []
for note in sdk.notes.list():
    text = sdk.notes.text(note.id)
    for m in PRICE.finditer(text):
        amount = float(m["amount"].replace(",", "."))
        found.append((note.title, f"{amount:.2f}"))
sorted(found)
