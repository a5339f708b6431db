#!/usr/bin/env python3
"""Writes lands.csv, real boxes for the `jostle` program: one for each polygon of the countries of Natural Earth and of the
counties of the United States, as the npm packages world-atlas and us-atlas carry them.

    npm pack world-atlas@2.0.2 us-atlas@3.0.1
    for package in world-atlas-2.0.2 us-atlas-3.0.1; do mkdir $package; tar xzf $package.tgz -C $package; done
    python3 data/make_lands.py world-atlas-2.0.2 us-atlas-3.0.1 data/lands.csv

Corners are degrees of longitude and latitude. Both files hold whole steps of a grid, some 0.0036 by 0.0017 and 0.0036 by
0.0009 degrees: four decimals keep all of them apart, so that two boxes of one file overlap, or touch, as its steps say.
Nothing is left out.
"""

import csv
import json
import sys


def rings(geometry):
    """The outer ring of each polygon, as numbers of arcs."""
    polygons = {"Polygon": [geometry.get("arcs")], "MultiPolygon": geometry.get("arcs")}[geometry["type"]]
    return [polygon[0] for polygon in polygons]


def lands(path, kind):
    with open(path, encoding="utf-8") as file:
        topology = json.load(file)
    (scale_x, scale_y), (left, low) = topology["transform"]["scale"], topology["transform"]["translate"]
    arcs = []
    for steps in topology["arcs"]:
        x = y = 0
        arcs.append([(x := x + step[0], y := y + step[1]) for step in steps])
    for geometry in topology["objects"][kind]["geometries"]:
        name, code = geometry["properties"]["name"], geometry.get("id", "")
        for ring in rings(geometry):
            # An arc that is passed in reverse has the complement of its number.
            points = [point for arc in ring for point in arcs[arc if arc >= 0 else ~arc]]
            xs, ys = [x * scale_x + left for x, _ in points], [y * scale_y + low for _, y in points]
            corners = [min(xs), min(ys), max(xs), max(ys)]
            yield [name, code] + [f"{x:.4f}" for x in corners]


def main():
    world, states, out = sys.argv[1:]
    countries = list(lands(f"{world}/package/countries-10m.json", "countries"))
    counties = list(lands(f"{states}/package/counties-10m.json", "counties"))
    with open(out, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "code", "xmin", "ymin", "xmax", "ymax"])
        writer.writerows(countries + counties)
    boxes = [[float(x) for x in row[2:]] for row in countries + counties]
    sides = sorted(max(x1 - x0, y1 - y0) for x0, y0, x1, y1 in boxes)
    print(f"{len(countries)} polygons of countries, {len(counties)} of counties")
    print(f"longer sides from {sides[0]:.4f} to {sides[-1]:.4f} degrees, half of them up to {sides[len(sides) // 2]:.4f}")
    print(sum(x0 == x1 or y0 == y1 for x0, y0, x1, y1 in boxes), "are points or lines")


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main()
