"""Planted faults: small bugs put into the sources one at a time, to see whether the tests notice (`make mutants`).

`catalogue/` lists the faults, one file an area; `groups.py` says which tests concern them. Each fault is planted in a
scratch copy of the tree (`plant.py`), the extension modules that contain it are rebuilt without optimisation
(`build.py`), its tests are run (`run.py`), and a table says what caught it (`table.py`).
"""
