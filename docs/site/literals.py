"""Links from names in prose to the API reference: Markdown stays as it is, and the site finds the public names."""

from __future__ import annotations

import builtins
import re
from collections import defaultdict
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.util.nodes import find_pending_xref_condition, make_refnode

NAME = re.compile(r"(?P<name>[A-Za-z_]\w*(\.\w+)*)(?P<call>\(.*\))?")
OWNERS = {"sim": "pippin.Simulation", "simulation": "pippin.Simulation"}
"""Variables of the examples, and the classes of their objects."""

EVERY = ""
"""Key of all full names."""

Objects = dict[str, list[str]]


class LinkedLiterals(SphinxPostTransform):
    """Turns a literal that is the name of a public object into a link to it."""

    default_priority = 400

    def run(self, **_: Any) -> None:
        """Wrap the literals of one page."""
        objects = self.env.domains["py"].objects
        known = _known(objects)
        for literal in list(self.document.findall(nodes.literal)):
            if isinstance(literal.parent, (nodes.reference, nodes.title, addnodes.desc_signature)):
                continue
            entry = _entry_of(literal)
            full = _full(literal.astext(), known, [entry, entry.rpartition(".")[0], self._module_of(literal)])
            if full is not None and full != entry:
                self._link(literal, full, objects[full])

    def _module_of(self, literal: nodes.Node) -> str:
        """Return the module that a page, or a section of the page of public names, is about; else an empty string."""
        while not isinstance(literal, nodes.section):
            if literal.parent is None:
                return ""
            literal = literal.parent
        title = literal[0].astext()
        return title if title.startswith("pippin") else ""

    def _link(self, literal: nodes.literal, full: str, entry: Any) -> None:
        page = self.env.docname
        link = make_refnode(self.app.builder, page, entry.docname, entry.node_id, literal.deepcopy(), full)
        link["classes"].append("api")
        literal.replace_self(link)


class PlainBuiltins(SphinxPostTransform):
    """Leaves the types of Python without a link: `type` in a signature is not a key `type` of a class."""

    default_priority = 5  # before references are resolved

    def run(self, **_: Any) -> None:
        """Replace the references of one page."""
        for reference in list(self.document.findall(addnodes.pending_xref)):
            if reference.get("refdomain") == "py" and hasattr(builtins, reference["reftarget"]):
                shown = find_pending_xref_condition(reference, "resolved") or reference
                reference.replace_self(shown.children)


def _known(objects: Any) -> Objects:
    """Return the full names by each of their ends that a text may write."""
    known: Objects = defaultdict(list)
    known[EVERY] = list(objects)
    for full, entry in objects.items():
        parts = full.split(".")
        for start in range(len(parts)):
            short = ".".join(parts[start:])
            is_clear = start == 0 or "." in short or entry.objtype in ("class", "exception", "data", "function")
            if is_clear and full not in known[short]:
                known[short].append(full)
    return known


def _full(text: str, known: Objects, places: list[str]) -> str | None:
    """Return the full name of the object that a literal names, the nearest to the places; None if it is not clear.

    A lower-case word without a call, such as `load`, is a name only if it belongs to one of the places.
    """
    found = NAME.fullmatch(text)
    if not found:
        return None
    name = found["name"]
    head, _, rest = name.partition(".")
    if head in OWNERS and rest:
        name = f"{OWNERS[head]}.{rest}"
    for place in filter(None, places):
        if f"{place}.{name}" in known[EVERY]:
            return f"{place}.{name}"
    if name.islower() and "." not in name and not found["call"]:
        return None
    names = known.get(name, [])
    return names[0] if len(names) == 1 else None


def _entry_of(node: nodes.Node) -> str:
    """Return the full name of the object whose entry a node is in; empty if there is none."""
    while node.parent is not None:
        node = node.parent
        if isinstance(node, addnodes.desc):
            return next(iter(node[0].get("ids", [])), "")
    return ""


def _missing(app: Sphinx, env: Any, node: addnodes.pending_xref, content: nodes.Node) -> nodes.Node | None:
    """Link a type of a signature that another public module has."""
    if node.get("refdomain") != "py":
        return None
    objects = env.domains["py"].objects
    last = node["reftarget"].rpartition(".")[2]
    names = [
        each for each in objects if each.rpartition(".")[2] == last and objects[each].objtype in ("class", "exception")
    ]
    if len(names) != 1:
        return None
    entry = objects[names[0]]
    return make_refnode(app.builder, node["refdoc"], entry.docname, entry.node_id, content, names[0])


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the links."""
    app.add_post_transform(PlainBuiltins)
    app.add_post_transform(LinkedLiterals)
    app.connect("missing-reference", _missing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
