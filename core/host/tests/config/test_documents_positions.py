"""Lines of keys and items: what errors and `pippin show` point at."""

import json
import tomllib

import pytest
from pippin.config.documents import json_lines, split_key, toml_lines

TOML = '''\
# a comment with [brackets] and = signs
title = "a # that is not a comment"   # 2
"quoted.key" = 1
'literal "key"' = 2
physical.color = 'red'             # 5
physical . "shape" = "round"

[servers]                          # 8

  [servers.alpha]                  # 10
  ip = "10.0.0.1"
[fruit.apple]
color = """
several
lines with \\""" quotes"""""
after = \'\'\'
one ' more\'\'\'\'                       # ends in line 17
last = 1979-05-27 07:32:00         # 18
inline = { a = 1, "b.c" = { d = [2, 3] }, e.f = "}" }
[[points]]                         # 20
x = 1
[[points]]
x = [
    # a comment ] in a list
    1, 2,                          # 25
    [3,
     { deep = "]" }],
]
[[points.labels]]                  # 29
text = "one"
[[points.labels]]
text = "two"
[points.origin]                    # 33
z = -inf
[fruit]                            # 35, out of order
kind = true
[[points]]
empty = []
'''


def paths(data, path=()):
    """Yield the path of every key and item inside plain data."""
    children = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for key, value in children:
        yield (*path, key)
        yield from paths(value, (*path, key))


def test_every_toml_key_and_item_has_a_line():
    assert set(toml_lines(TOML)) == set(paths(tomllib.loads(TOML)))


@pytest.mark.parametrize(
    ("path", "line"),
    [
        (("title",), 2),
        (("quoted.key",), 3),
        (('literal "key"',), 4),
        (("physical",), 5),
        (("physical", "color"), 5),
        (("physical", "shape"), 6),
        (("servers",), 8),
        (("servers", "alpha"), 10),
        (("servers", "alpha", "ip"), 11),
        (("fruit", "apple", "color"), 13),
        (("fruit", "apple", "after"), 16),
        (("fruit", "apple", "last"), 18),
        (("fruit", "apple", "inline", "b.c", "d", 1), 19),
        (("fruit", "apple", "inline", "e", "f"), 19),
        (("points",), 20),
        (("points", 0, "x"), 21),
        (("points", 1), 22),
        (("points", 1, "x"), 23),
        (("points", 1, "x", 1), 25),
        (("points", 1, "x", 2, 0), 26),
        (("points", 1, "x", 2, 1, "deep"), 27),
        (("points", 1, "labels"), 29),
        (("points", 1, "labels", 1, "text"), 32),
        (("points", 1, "origin", "z"), 34),
        (("fruit",), 35),
        (("fruit", "kind"), 36),
        (("points", 2, "empty"), 38),
    ],
)
def test_toml_line_is_where_the_key_or_item_begins(path, line):
    assert toml_lines(TOML)[path] == line


def test_json_lines_are_where_keys_and_items_begin():
    text = '{\n\t"a": [1,\n\t\t{"b.c": "\\"}]"}],\n\t"d" : null\n}'

    lines, repeated = json_lines(text)

    assert set(lines) == set(paths(json.loads(text)))
    assert (lines["a",], lines["a", 0], lines["a", 1, "b.c"], lines["d",]) == (2, 2, 3, 4)
    assert not repeated


def test_key_is_split_as_toml_splits_it():
    assert split_key("""a . 'b.c'."d\\"e".0""") == ("a", "b.c", 'd"e', "0")


@pytest.mark.parametrize("text", ["", "a..b", "a b", ".*hip.*", "a = 1 #", 'a."b'])
def test_what_is_not_a_dotted_key_is_refused(text):
    with pytest.raises(ValueError, match="dotted key"):
        split_key(text)
