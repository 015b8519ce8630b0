# SPDX-License-Identifier: LGPL-2.1-or-later
"""Saves a figure of matplotlib as a small SVG: text as text, two digits behind the point, a line for each element.

The same CSV gives the same file, without date and version, so that a change in a file is a change in figures.
"""

import io
import re
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"
NUMBER = re.compile(r"-?\d+\.\d{3,}")


def save(figure, file):
    text = io.BytesIO()
    figure.savefig(text, format="svg", metadata=dict.fromkeys(("Date", "Creator", "Format", "Type")))
    file.write_text(compact(text.getvalue()), encoding="utf-8")
    print(f"wrote {file}")


def compact(svg):
    ET.register_namespace("", SVG[1:-1])
    ET.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = ET.fromstring(svg)
    flatten(root)
    for element in root.iter():
        if element.get("transform", "").startswith("rotate(-0 "):
            del element.attrib["transform"]
        for name, value in element.attrib.items():
            element.set(name, NUMBER.sub(two_digits, " ".join(value.split())))
    ET.indent(root, " ")
    return ET.tostring(root, encoding="unicode") + "\n"


def flatten(parent):
    """Puts the members of a group that only has a name, which nothing refers to, in the group's place."""
    for child in list(parent):
        flatten(child)
        if child.tag == SVG + "g" and set(child.attrib) <= {"id"}:
            place = list(parent).index(child)
            parent[place:place + 1] = list(child)


def two_digits(number):
    return f"{float(number.group()):.2f}".rstrip("0").rstrip(".")
