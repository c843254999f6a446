"""The rules of the rock world a second time, for one state and one joint action, in plain Python.

A state is ((row, column, direction) of every agent, frozenset of the cells of rocks).
"""

from __future__ import annotations

import itertools
from fractions import Fraction

AHEAD = [(0, 1), (1, 0), (0, -1), (-1, 0)]


class PlainWorld:
    def __init__(self, text):
        self.cells = {(r, c): letter for r, line in enumerate(text.split("\n")) for c, letter in enumerate(line)}
        self.letters = [self.cells[place] for place in sorted(self.cells) if self.cells[place] in "HR"]
        agents = tuple((*place, 0) for place in sorted(self.cells) if self.cells[place] in "HR")
        self.start = (agents, frozenset(place for place, letter in self.cells.items() if letter == "O"))
        self.free = [place for place in sorted(self.cells) if self.cells[place] != "W"]

    def outcomes(self, state, joint):
        """{successor: probability}."""
        agents, rocks = state
        turned, wishes = list(agents), {}
        standing = {(r, c) for r, c, _ in agents}
        for number, (r, c, facing) in enumerate(agents):
            action = joint // 4**number % 4
            if action == 1:
                turned[number] = (r, c, (facing - 1) % 4)
            elif action == 2:
                turned[number] = (r, c, (facing + 1) % 4)
            elif action == 3:
                dr, dc = AHEAD[facing]
                cell = (r + dr, c + dc)
                if self.letters[number] == "R":
                    while cell in rocks:
                        cell = (cell[0] + dr, cell[1] + dc)
                if self.cells[cell] != "W" and cell not in standing and cell not in rocks:
                    wishes[number] = cell
        wanted = sorted(set(wishes.values()))
        groups = [[number for number in wishes if wishes[number] == cell] for cell in wanted]
        result = {}
        for winners in itertools.product(*groups):
            after, moved = list(turned), set(rocks)
            for number in winners:
                r, c, facing = agents[number]
                dr, dc = AHEAD[facing]
                after[number] = (r + dr, c + dc, facing)
                if (r + dr, c + dc) in rocks:
                    moved.remove((r + dr, c + dc))
                    moved.add(wishes[number])
            chance = Fraction(1)
            for group in groups:
                chance /= len(group)
            key = (tuple(after), frozenset(moved))
            result[key] = result.get(key, 0) + chance
        return result

    def encoded(self, state):
        """The bytes that the example gives a state."""
        agents, rocks = state
        number = {place: n for n, place in enumerate(self.free)}
        plain = [x for r, c, facing in agents for x in (number[r, c], facing)]
        return bytes(plain + sorted(number[rock] for rock in rocks))
