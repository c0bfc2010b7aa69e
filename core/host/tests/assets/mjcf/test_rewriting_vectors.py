"""Claims about partial vectors: MuJoCo's defaults complete them, and the numbers of a class stay."""

from xml.etree import ElementTree

import pytest
from pippin.assets.mjcf.rewriting import complete_vectors

FILE = """<mujoco><default><geom solref=".015"/><default class="hard"><geom solref=".01"/><joint solreflimit=".03"/>
</default></default><worldbody><body><joint class="hard" solreflimit=".04"/><joint solreflimit=".05"/>
<geom solref=".02" solimp=".8"/></body></worldbody><equality><weld solref=".1"/></equality></mujoco>"""


@pytest.mark.parametrize(
    ("place", "attribute", "value"),
    [
        pytest.param("default/geom", "solref", ".015 1", id="of the class without a name"),
        pytest.param("default/default/geom", "solref", ".01", id="of a class below one that gives it"),
        pytest.param("default/default/joint", "solreflimit", ".03 1", id="of the first class that gives it"),
        pytest.param("worldbody/body/joint[1]", "solreflimit", ".04", id="of an element of such a class"),
        pytest.param("worldbody/body/joint[2]", "solreflimit", ".05 1", id="of an element without a class"),
        pytest.param("worldbody/body/geom", "solref", ".02", id="that the class without a name gives"),
        pytest.param("worldbody/body/geom", "solimp", ".8 0.95 0.001 0.5 2", id="that no class gives"),
        pytest.param("equality/weld", "solref", ".1 1", id="of an equality"),
    ],
)
def test_a_vector_is_completed_if_nothing_else_gives_its_end(place, attribute, value):
    root = ElementTree.fromstring(FILE)

    complete_vectors(root)

    assert root.find(place).get(attribute) == value
