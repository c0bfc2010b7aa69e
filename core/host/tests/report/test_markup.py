"""HTML as text."""

from pippin.report.markup import element, joined, section, table


def test_text_is_escaped_and_markup_is_not():
    assert element("p", "<a>&", element("b", "1"), None) == "<p>&lt;a&gt;&amp;<b>1</b></p>"
    assert joined(["<", 3]) == "&lt;3"


def test_attributes_are_quoted_and_flags_stand_alone():
    found = element("video", src='a"b', class_="video", loop=True, muted=False)

    assert found == '<video src="a&quot;b" class="video" loop></video>'


def test_a_section_without_content_is_nothing():
    assert section("Video", None, "") == ""


def test_numbers_are_at_the_right():
    assert table(["key", "room"], [["<", 3]], numeric=1).count('class="number"') == 2
