# expect: ["buy flour", "buy salt", "sift"]
import re
from typing import Iterator

sdk.notes.create("Bread", "# Bread\n- [ ] buy flour\n- [x] feed starter\n- [ ] sift\n")
sdk.notes.create("Pantry", "- [ ] buy salt\n* [ ] buy flour\n")


def lines(notes) -> Iterator[str]:
    for note in notes:
        yield from sdk.notes.text(note).splitlines()


def open_boxes(source: Iterator[str]) -> Iterator[str]:
    for line in source:
        if m := re.match(r"^\s*[-*] \[ \] (.+)$", line):
            yield m.group(1).strip()


def main():
    return sorted(set(open_boxes(lines(sdk.notes.list()))))


if __name__ == "__main__":
    main()
