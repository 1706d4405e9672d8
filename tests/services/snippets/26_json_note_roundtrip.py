# expect: {"count": 2, "names": ["Ida", "Jonas"], "ages": 71}
import json
import textwrap

content = textwrap.dedent("""
    # People

    ```json
    [{"name": "Ida", "age": 34}, {"name": "Jonas", "age": 37}]
    ```
""").strip()
note = sdk.notes.create("People", content=content)

body = sdk.notes.get(note.id).content
block = body.split("```json")[1].split("```")[0]
people = json.loads(block)
return {"count": len(people), "names": [p["name"] for p in people], "ages": sum(p["age"] for p in people)}
