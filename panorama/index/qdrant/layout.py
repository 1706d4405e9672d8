"""The requests to a Qdrant server: collections, payload indexes, points and filters; no I/O.

qdrant-client takes 1.3 s to import, so it is imported by the functions.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from panorama.index.filters import KEYWORD_FIELDS, to_conditions, to_payload, to_qdrant
from panorama.index.points import Filter, Model, Point, point_id

if TYPE_CHECKING:
    from qdrant_client import models

Quantization = Literal["off", "scalar", "turbo"]

SPACE_FIELD, CHANGE_FIELD = "space", "change"

OVERSAMPLING = 2.0
"""How many times more candidates are compared by their compressed copies than by their vectors."""

LINKS = 16
"""Links of a vector in the graph (Qdrant's default)."""

FILTER_GRAPH_VERSION = 1, 17
"""The first version that can leave a payload field out of the graphs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerLayout:
    """How a collection is created: shared by many spaces or not, its replicas, and compressed copies in memory."""

    is_shared: bool = False
    replicas: int = 1
    write_consistency: int = 1
    quantization: Quantization = "scalar"

    @property
    def ordering(self) -> "models.WriteOrdering | None":
        """The order of writes: through one leader if there are replicas, which could otherwise differ after a race."""
        from qdrant_client import models

        return models.WriteOrdering.MEDIUM if self.replicas > 1 else None


DEFAULT_LAYOUT = ServerLayout()


def collection_settings(model: Model, layout: ServerLayout, metadata: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of `create_collection`: half-precision vectors on disk, strict about unindexed filters.

    A shared collection has no graph over all vectors, but one for each space.
    """
    from qdrant_client import models

    return {
        "vectors_config": models.VectorParams(
            size=model.size, distance=models.Distance.COSINE, datatype=models.Datatype.FLOAT16, on_disk=True
        ),
        "hnsw_config": models.HnswConfigDiff(m=0, payload_m=LINKS) if layout.is_shared else None,
        "quantization_config": _quantization(layout),
        "on_disk_payload": True,
        "replication_factor": layout.replicas,
        "write_consistency_factor": layout.write_consistency,
        "strict_mode_config": models.StrictModeConfig(
            enabled=True, unindexed_filtering_retrieve=False, unindexed_filtering_update=False
        ),
        "metadata": dict(metadata),
    }


def _quantization(layout: ServerLayout) -> Any:
    """Return the compressed copies: in memory for one space, read from disk as needed for a shared collection."""
    from qdrant_client import models

    in_memory = not layout.is_shared
    if layout.quantization == "scalar":
        return models.ScalarQuantization(
            scalar=models.ScalarQuantizationConfig(type=models.ScalarType.INT8, always_ram=in_memory)
        )
    if layout.quantization == "turbo":
        return models.TurboQuantization(
            turbo=models.TurboQuantQuantizationConfig(bits=models.TurboQuantBitSize.BITS4, always_ram=in_memory)
        )
    return None


def payload_indexes(layout: ServerLayout, version: tuple[int, int] | None) -> dict[str, Any]:
    """Return the indexes of the payload fields; the space comes first, because vectors are stored by it."""
    from qdrant_client import models

    in_graphs: dict[str, Any] = {"enable_hnsw": False} if layout.is_shared and _has_filter_graphs(version) else {}
    keyword = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, **in_graphs)
    number = models.IntegerIndexParams(type=models.IntegerIndexType.INTEGER, lookup=False, range=True, **in_graphs)
    tenant = models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True)
    return {
        **({SPACE_FIELD: tenant} if layout.is_shared else {}),
        **dict.fromkeys(KEYWORD_FIELDS, keyword),
        "at": number,
        CHANGE_FIELD: number,
    }


def _has_filter_graphs(version: tuple[int, int] | None) -> bool:
    return version is not None and version >= FILTER_GRAPH_VERSION


def search_params(layout: ServerLayout) -> "models.SearchParams | None":
    """Return how to search: candidates by their compressed copies, ranked by their vectors."""
    from qdrant_client import models

    if layout.quantization == "off":
        return None
    rescored = models.QuantizationSearchParams(rescore=True, oversampling=OVERSAMPLING)
    return models.SearchParams(quantization=rescored)


def to_struct(point: Point, vector: list[float], space: str, change: int) -> "models.PointStruct":
    """Return a point to send."""
    from qdrant_client import models

    payload = {**({SPACE_FIELD: space} if space else {}), **to_payload(point), CHANGE_FIELD: change}
    return models.PointStruct(id=str(point_id(point.chunk, space)), vector=vector, payload=payload)


def search_filter(condition: Filter, space: str) -> "models.Filter | None":
    """Return a filter that begins with the space, None for everything."""
    from qdrant_client import models

    must = [*_in_space(space), *to_qdrant(to_conditions(condition))]
    return models.Filter.model_validate({"must": must}) if must else None


def older_filter(space: str, change: int, chunks: Sequence[str] = ()) -> "models.Filter":
    """Return a filter for points that no later change wrote, optionally only those of some chunks."""
    from qdrant_client import models

    must: list[dict[str, Any]] = [*_in_space(space), {"key": CHANGE_FIELD, "range": {"lte": change}}]
    if chunks:
        must.append({"has_id": [str(point_id(chunk, space)) for chunk in chunks]})
    return models.Filter.model_validate({"must": must})


def _in_space(space: str) -> list[dict[str, Any]]:
    return [{"key": SPACE_FIELD, "match": {"value": space}}] if space else []
