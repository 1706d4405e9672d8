"""What every embedder keeps, whoever computes."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from panorama.ports import Embedder

TEXTS = ("a short note", "Pickles: salt, dill, time", "", "🙂🎉", "東京の天気", "word " * 900, "\x00\u200b\n\t ", "-")


def test_each_text_has_a_vector_of_length_one(any_embedder: Embedder) -> None:
    found = any_embedder.embed_documents(TEXTS)

    assert (found.shape, found.dtype) == ((len(TEXTS), any_embedder.size), np.float32)
    assert np.allclose(np.linalg.norm(found, axis=1), 1, atol=1e-5)


def test_a_text_gives_the_same_vector_whatever_stands_beside_it(any_embedder: Embedder) -> None:
    together = any_embedder.embed_documents(TEXTS)
    alone = np.concatenate([any_embedder.embed_documents([text]) for text in TEXTS])
    turned = any_embedder.embed_documents(TEXTS[::-1])[::-1]

    assert np.array_equal(together, alone)
    assert np.array_equal(together, turned)


def test_a_query_is_a_document_except_for_duo(any_embedder: Embedder) -> None:
    query = any_embedder.embed_query(TEXTS[1])

    assert query.shape == (any_embedder.size,)
    assert np.array_equal(query, any_embedder.embed_documents(TEXTS)[1]) == (any_embedder.id != "duo")


def test_no_texts_have_no_vectors(any_embedder: Embedder) -> None:
    assert any_embedder.embed_documents([]).shape == (0, any_embedder.size)


def test_a_megabyte_is_cut(any_embedder: Embedder) -> None:
    cut, longer = any_embedder.embed_documents(["long text " * 100_000, "long text " * 100_001])

    assert np.array_equal(cut, longer)


def test_threads_do_not_disturb_each_other(any_embedder: Embedder) -> None:
    expected = any_embedder.embed_documents(TEXTS)

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: any_embedder.embed_documents(TEXTS), range(8)))

    assert all(np.array_equal(item, expected) for item in found)


def test_it_works_again_after_it_was_closed(any_embedder: Embedder) -> None:
    before = any_embedder.embed_query("again")

    any_embedder.close()
    any_embedder.close()

    assert np.array_equal(any_embedder.embed_query("again"), before)


def test_it_tells_what_it_is(any_embedder: Embedder) -> None:
    assert any_embedder.id.partition(":")[0] in ("duo", "minilm", "static", "local", "ollama", "openai")
    assert len(any_embedder.digest) >= 8
    assert any_embedder.max_tokens >= 256


@pytest.mark.parametrize("name", ["duo", "minilm", "static"])
def test_what_means_the_same_is_nearer_than_what_does_not(name: str, request: pytest.FixtureRequest) -> None:
    embedder: Embedder = request.getfixturevalue(name)
    query = embedder.embed_query("car repair")

    near, far = embedder.embed_documents(["The mechanic mended the vehicle", "A recipe for lemon cake"]) @ query

    assert near > far + 0.1
