"""The shape of the code: folders stay small, and names are the field's words."""

from tests import shape

MAX_MODULES = 17
MAX_PARTICIPLES = 0.03


def test_no_folder_has_more_modules_than_one_can_survey() -> None:
    assert [(name, count) for name, count in shape.list_folders() if count > MAX_MODULES] == []


def test_no_module_is_longer_than_400_lines() -> None:
    assert shape.list_long_modules() == []


def test_functions_are_named_by_verbs() -> None:
    participles, functions = shape.list_participles()

    assert len(participles) / functions < MAX_PARTICIPLES, participles


def test_no_name_is_a_word_of_a_story() -> None:
    assert shape.list_story_words() == []


def test_docstrings_describe_arguments_that_exist() -> None:
    assert shape.list_unknown_arguments() == []
