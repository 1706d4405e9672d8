"""Names are looked for in texts of any size, and the work can be stopped."""

import pytest

from panorama.domain.markdown.mentions import prepare_text


@pytest.mark.parametrize("line", ["`a` " * 12_500, "`a` "])
def test_the_preparation_of_a_long_text_can_be_stopped(line: str) -> None:
    text = "\n".join([line] * (1_000_000 // len(line)))
    checks = 0

    def stop() -> None:
        nonlocal checks
        checks += 1
        if checks == 5:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        prepare_text(text, stop)
