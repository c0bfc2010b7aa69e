"""HTML and Markdown as text."""

import html

import pytest
from pippin.report import Chart, code, page
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


def test_an_element_knows_the_charts_that_stand_in_it_in_their_order():
    first, second = (Chart.of(title, {"x": [0.0, 1.0]}, [0.0, 1.0]) for title in ("first", "second"))

    text = page("charts", [element("p", "one", first), section("Other", [second])])

    assert element("p", first, element("b", second)).charts == (first, second)
    assert text.index(">first") < text.index(">second")
    assert text.count('"unit":""') == 2
    assert text.count('"times":["') == 1  # both have the same times


HOSTILE = ("<iframe srcdoc='x'>", "a | b", "`", "[x](javascript:y)", "![](http://x/y)", "a\nb", "*b*")


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_code_of_markdown_only_if_nothing_in_it_ends_code(name):
    shown = code(name)

    assert html.unescape(shown) == name.replace("\n", " ")
    assert not set("<>`*[]()!|:") & set(shown)


def test_an_ordinary_name_is_code():
    assert code("ant/left_hip~knee.1") == "`ant/left_hip~knee.1`"
