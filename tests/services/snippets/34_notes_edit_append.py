# expect: "# Log\n\nGrout: linen\n\n- second line"
note = sdk.notes.create("Log", "# Log\n\nGrout: open")
sdk.notes.edit(note, "Grout: open", "Grout: linen")
sdk.notes.append(note, "- second line")
text = sdk.notes.text(note)
assert text.count("Grout") == 1, text
assert "open" not in text
return text.rstrip()
