# expect: {"First": 5, "Second": 11, "Third": 3}
notes = [
    sdk.notes.create(title, content)
    for title, content in [("First", "hello"), ("Second", "hello world"), ("Third", "abc")]
]
texts = sdk.parallel_map(lambda n: sdk.notes.text(n.id), notes, at_most=4)
return {n.title: len(text) for n, text in zip(notes, texts)}
