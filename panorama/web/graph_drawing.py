"""Draws a graph as data for a template: where its points are, and which of them have room for a label."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import sqrt
from typing import Any

WIDTH, HEIGHT, MARGIN = 680.0, 560.0, 36.0
STEPS = 150
LABEL_CHARS = 26
CHAR_WIDTH, LABEL_HEIGHT = 6.1, 14.0
"""About the size of a letter of the labels."""

Place = tuple[float, float]
Box = tuple[float, float, float, float]
Pairs = tuple[tuple[int, int], ...]


@dataclass(frozen=True, slots=True)
class Point:
    """An item in the drawing; `label` is its cut title, shown only if there is room for it or the point is chosen."""

    node: Mapping[str, Any]
    x: float
    y: float
    radius: float
    label: str
    label_x: float
    label_y: float
    has_room: bool


@dataclass(frozen=True, slots=True)
class Line:
    """An edge in the drawing."""

    kind: str
    start: Place
    end: Place


@dataclass(frozen=True, slots=True)
class Drawing:
    """A drawn graph."""

    points: Sequence[Point]
    lines: Sequence[Line]


def draw_graph(nodes: Sequence[Mapping[str, Any]], edges: Sequence[Mapping[str, Any]]) -> Drawing:
    """Draw items, as rows of a subgraph, and the edges between them."""
    numbers = {node["id"]: number for number, node in enumerate(nodes)}
    known = [edge for edge in edges if edge["from_item"] in numbers and edge["to_item"] in numbers]
    pairs = tuple((numbers[edge["from_item"]], numbers[edge["to_item"]]) for edge in known)
    places = [
        (MARGIN + x * (WIDTH - 2 * MARGIN), MARGIN + y * (HEIGHT - 2 * MARGIN))
        for x, y in place_nodes(len(nodes), pairs)
    ]
    lines = [Line(edge["kind"], places[start], places[end]) for edge, (start, end) in zip(known, pairs, strict=True)]
    return Drawing(_label_points(nodes, places), lines)


@lru_cache(maxsize=16)
def place_nodes(count: int, pairs: Pairs) -> tuple[Place, ...]:
    """Return a place for each point, from 0 to 1 in both directions (0.1 s for 250 points; count² memory).

    Fruchterman and Reingold, 1991: edges pull with d²/k, all points push each other with k²/d, in steps that become
    shorter; a weak pull to the middle keeps parts together that no edge joins.
    """
    import numpy as np  # 60 ms

    if count == 0:
        return ()
    at = np.random.default_rng(7).random((count, 2)).astype(np.float32)
    ends = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    ideal = 0.75 / sqrt(count)
    for step in range(STEPS):
        squares = (at**2).sum(1)
        distances = np.maximum(squares[:, None] + squares - 2 * (at @ at.T), 1e-5)
        push = ideal**2 / distances
        move = at * push.sum(1, keepdims=True) - push @ at - (at - 0.5) * ideal * 4
        along = at[ends[:, 0]] - at[ends[:, 1]]
        pull = along * (np.linalg.norm(along, axis=1, keepdims=True) / ideal)
        np.add.at(move, ends[:, 0], -pull)
        np.add.at(move, ends[:, 1], pull)
        length = np.maximum(np.linalg.norm(move, axis=1, keepdims=True), 1e-6)
        at += move / length * np.minimum(length, 0.1 * (1 - step / STEPS) + 0.001)
    low, size = at.min(0), np.maximum(np.ptp(at, axis=0), 1e-6)
    scaled = (at - low) / size if count > 1 else np.full((1, 2), 0.5)
    return tuple((float(x), float(y)) for x, y in scaled)


def _label_points(nodes: Sequence[Mapping[str, Any]], places: Sequence[Place]) -> list[Point]:
    """Return the points; those with most edges are labelled first, beside what is there already."""
    radii = [min(13.0, (7.0 if node["kind"] == "project" else 3.5) + 1.6 * sqrt(node["links"])) for node in nodes]
    taken: list[Box] = [(x - r, y - r, x + r, y + r) for (x, y), r in zip(places, radii, strict=True)]
    points: dict[int, Point] = {}
    for number in sorted(range(len(nodes)), key=lambda number: -radii[number]):
        title, (x, y), radius = str(nodes[number]["title"]), places[number], radii[number]
        label = title if len(title) <= LABEL_CHARS else f"{title[: LABEL_CHARS - 1].rstrip()}…"
        boxes = _list_label_boxes(x, y, radius, len(label) * CHAR_WIDTH)
        free = next((box for box in boxes if _is_free(box, taken)), None)
        box = free or boxes[0]
        if free:
            taken.append(free)
        middle = (box[0] + box[2]) / 2
        points[number] = Point(nodes[number], x, y, radius, label, middle, box[3] - 3, free is not None)
    return [points[number] for number in range(len(nodes))]


def _list_label_boxes(x: float, y: float, radius: float, width: float) -> list[Box]:
    """Return where a label can be: below, above, right and left of its point."""
    half, low = width / 2, LABEL_HEIGHT / 2
    return [
        (x - half, y + radius + 2, x + half, y + radius + 2 + LABEL_HEIGHT),
        (x - half, y - radius - 2 - LABEL_HEIGHT, x + half, y - radius - 2),
        (x + radius + 4, y - low, x + radius + 4 + width, y + low),
        (x - radius - 4 - width, y - low, x - radius - 4, y + low),
    ]


def _is_free(box: Box, taken: Sequence[Box]) -> bool:
    """Return whether a box is in the drawing and touches no other."""
    left, top, right, bottom = box
    if left < 2 or top < 2 or right > WIDTH - 2 or bottom > HEIGHT - 2:
        return False
    return not any(left < b[2] and right > b[0] and top < b[3] and bottom > b[1] for b in taken)
