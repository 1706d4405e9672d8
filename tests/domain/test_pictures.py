"""Charts as pictures: well-formed, safe with any text, and described."""

import struct
import zlib
from xml.etree.ElementTree import fromstring

import pytest

from panorama.domain.charts.formats import read_description, render_png, render_svg
from panorama.domain.charts.picture import picture_bars, picture_heatmap, picture_lines

MAKERS = (picture_bars, picture_lines, picture_heatmap)
HOSTILE = '</title><script>alert(1)</script>\x00\ud800"'


@pytest.mark.parametrize("make", MAKERS)
def test_hostile_texts_stay_texts_in_an_svg(make: type) -> None:
    picture = make(HOSTILE, [HOSTILE, "b"], {HOSTILE: [1, 2]})

    tree = fromstring(render_svg(picture).encode())

    assert {element.tag.partition("}")[2] for element in tree.iter()} <= {
        "svg", "title", "desc", "rect", "polyline", "text"
    }  # fmt: skip
    assert not [name for element in tree.iter() for name in element.attrib if name.startswith("on") or "href" in name]


@pytest.mark.parametrize("make", MAKERS)
def test_a_png_has_the_size_of_its_picture_and_whole_rows(make: type) -> None:
    picture = make("Tea", ["1", "2", "3"], {"cups": [3, 0.5, 12], "pots": [1, 0, 2]})

    png = render_png(picture)

    width, height = struct.unpack(">II", png[16:24])
    size = struct.unpack(">I", png[33:37])[0]
    assert (width, height) == (round(picture.width), round(picture.height))
    assert len(zlib.decompress(png[41 : 41 + size])) == height * (1 + 3 * width)


@pytest.mark.parametrize("title", ["Tea", "Ä & <b>"])
def test_the_description_is_read_from_the_picture(title: str) -> None:
    picture = picture_bars(title, ["Mon"], {"cups": [3]})

    assert read_description(render_png(picture)) == f"{title}: Mon cups 3"
    assert read_description(render_svg(picture).encode()) == f"{title}: Mon cups 3"
    assert read_description(b"") == read_description(b"\x89PNG\r\n\x1a\n") == ""


def test_few_values_are_described_one_by_one_and_many_by_their_peaks() -> None:
    few = picture_bars("Tea", ["Mon", "Tue"], {"cups": [3, 1]})
    many = picture_bars("Tea", [str(day) for day in range(50)], {"cups": [*range(50)]})

    assert few.description == "Tea: Mon cups 3; Tue cups 1"
    assert many.description == "Tea, 0 to 49: cups 1225 in all, most 49 (49)"
