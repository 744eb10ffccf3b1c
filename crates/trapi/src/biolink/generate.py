#!/usr/bin/env python3
"""Writes the table of categories beside it from a release of the Biolink Model.

    pip download --no-deps biolink-model==4.2.5 && unzip biolink_model-*.whl
    ./generate.py biolink_model/schema/biolink_model.yaml > categories.txt
"""

import sys

import yaml

with open(sys.argv[1], encoding="utf-8") as file:
    model = yaml.safe_load(file)
classes = model["classes"]


def parents(name):
    """The class it is, and the mixins it has."""
    definition = classes[name] or {}
    return [parent for parent in [definition.get("is_a"), *(definition.get("mixins") or [])] if parent]


def ancestors(name):
    """The class and all that it descends from."""
    return {name}.union(*(ancestors(parent) for parent in parents(name)))


def category(name):
    """As TRAPI spells it, without its prefix."""
    return "".join(word[0].upper() + word[1:] for word in name.split())


# What a node may be, and the mixins by which such nodes may be asked for; not associations.
nodes = {name for name in classes if "named thing" in ancestors(name)}
known = set().union(*(ancestors(name) for name in nodes)) - {"entity"}
print(f"# Categories of the Biolink Model {model['version']}, each with its parents and mixins.")
print("# Written by generate.py from biolink_model.yaml, which is in the public domain (CC0 1.0).")
for name in sorted(known, key=category):
    print(category(name), *sorted(category(parent) for parent in parents(name) if parent in known))
