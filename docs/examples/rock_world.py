"""A small world to plan in: humans with goals that nobody told, and a robot that can push rocks.

    python docs/examples/rock_world.py --horizon 15 --memory-budget 64MB

All agents act at once: stand still, turn left, turn right, or walk forward. The robot pushes a row of rocks if the cell
behind it is free of walls and agents; humans cannot push. A cell on which an agent stands when the step begins is
not free. A push wants the cell in which the last rock lands. Of agents who want the same cell one gets it, each with
the same probability, and the others stay. A goal of a human is to stand on a cell.
"""

from __future__ import annotations

import argparse
import itertools
import time

import numpy as np
from numpy.typing import NDArray

from npp_env.induction import Expansion, Goals, compute_human_policy_prior, compute_robot_policy

MAP = """\
WWWWWWWWWWW
WWHWW.WWHWW
W.O.R...O.W
WWWWWWW...W
WWWWWWW...W
WWWWWWWWWWW"""
STILL, LEFT_TURN, RIGHT_TURN, FORWARD = range(4)
ACTIONS = 4
TURN = np.array([0, -1, 1, 0])
NOWHERE = 255
# Right, down, left, up.
STEPS = ((0, 1), (1, 0), (0, -1), (-1, 0))


class RockWorld:
    """The model: a state is cell and direction of every agent, and the sorted cells of the rocks, a byte each."""

    layered = False

    def __init__(self, text: str = MAP) -> None:
        grid = text.split("\n")
        places = [(row, column) for row, line in enumerate(grid) for column, c in enumerate(line) if c != "W"]
        number = {place: cell for cell, place in enumerate(places)}
        letters = [grid[row][column] for row, column in places]
        self.places = places
        self.agents = [cell for cell, letter in enumerate(letters) if letter in "HR"]
        self.rocks = [cell for cell, letter in enumerate(letters) if letter == "O"]
        self.is_robot = [letters[cell] == "R" for cell in self.agents]
        self.humans = [agent for agent, robot in enumerate(self.is_robot) if not robot]
        # The cell in front of each cell in each direction; behind the last cell stands the wall.
        self.front = np.full((256, 4), NOWHERE, np.uint8)
        for (row, column), cell in number.items():
            for direction, (down, right) in enumerate(STEPS):
                self.front[cell, direction] = number.get((row + down, column + right), NOWHERE)
        self.name = f"rock world {text}"
        self.action_counts = (ACTIONS,) * len(self.agents)
        self.action_count = ACTIONS ** len(self.agents)
        self.state_bytes = 2 * len(self.agents) + len(self.rocks)
        # Action of each agent in each joint action: that of agent 0 changes fastest.
        joint = np.arange(self.action_count)
        self.joint = np.stack([joint // ACTIONS**agent % ACTIONS for agent in range(len(self.agents))], axis=1)

    def start(self) -> NDArray[np.uint8]:
        """As the map shows it, everyone facing right."""
        return np.array([[x for cell in self.agents for x in (cell, 0)] + self.rocks], np.uint8)

    def cell_goals(self) -> Goals:
        """To stand on a cell, for every cell."""
        cells = np.arange(len(self.places), dtype=np.uint8)
        return Goals(
            tuple(f"stands on {place}" for place in self.places),
            lambda states, human: states[:, 2 * human, None] == cells,
        )

    def expand(self, states: NDArray[np.uint8]) -> Expansion:
        """All transitions of a block of states."""
        wanted, pushes = self._wishes(states)
        agents = len(self.agents)
        successors = np.repeat(states[:, None], self.action_count, axis=1)
        walks = (self.joint == FORWARD) & (wanted != NOWHERE)[:, None]  # (n, joint actions, agents)
        for agent in range(agents):
            turned = states[:, 2 * agent + 1, None] + TURN[self.joint[:, agent]]
            successors[:, :, 2 * agent + 1] = turned % 4
        # Who wants the same cell as someone else who walks too.
        rivals = np.zeros(walks.shape[:2], np.bool_)
        for one, other in itertools.combinations(range(agents), 2):
            same = (wanted[:, one] == wanted[:, other])[:, None]
            rivals |= walks[:, :, one] & walks[:, :, other] & same
        for agent in range(agents):
            self._move(successors, states, walks[:, :, agent] & ~rivals, agent, wanted, pushes)
        return self._with_rivals(states, successors, rivals, walks, wanted, pushes)

    def _wishes(self, states: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
        """The cell that each agent would want, NOWHERE if there is none, and whether it would push; (n, agents)."""
        agents = len(self.agents)
        rocks = states[:, 2 * agents :]
        standing = states[:, 0 : 2 * agents : 2]
        wanted = np.empty((len(states), agents), np.uint8)
        pushes = np.zeros((len(states), agents), np.bool_)
        for agent, robot in enumerate(self.is_robot):
            direction = states[:, 2 * agent + 1]
            cell = self.front[standing[:, agent], direction]
            is_rock = (rocks == cell[:, None]).any(axis=1)
            if robot:
                pushes[:, agent] = is_rock
                for _ in self.rocks:
                    cell = np.where(is_rock, self.front[cell, direction], cell)
                    is_rock = (rocks == cell[:, None]).any(axis=1)
            taken = is_rock | (standing == cell[:, None]).any(axis=1)
            wanted[:, agent] = np.where(taken, NOWHERE, cell)
        return wanted, pushes

    def _move(
        self,
        successors: NDArray[np.uint8],
        states: NDArray[np.uint8],
        moves: NDArray[np.bool_],
        agent: int,
        wanted: NDArray[np.uint8],
        pushes: NDArray[np.bool_],
    ) -> None:
        """Let an agent have what it wants, where it moves; (n, joint actions, ...)."""
        ahead = self.front[states[:, 2 * agent], states[:, 2 * agent + 1]]
        cells = successors[:, :, 2 * agent]
        cells[:] = np.where(moves, ahead[:, None], cells)
        if not pushes[:, agent].any():
            return
        # All rocks of the row move on by one: as they look alike, the first one becomes the last.
        rocks = successors[:, :, 2 * len(self.agents) :]
        first = (rocks == ahead[:, None, None]) & (moves & pushes[:, agent, None])[:, :, None]
        rocks[:] = np.where(first, wanted[:, agent, None, None], rocks)
        rocks.sort(axis=2)

    def _with_rivals(
        self,
        states: NDArray[np.uint8],
        successors: NDArray[np.uint8],
        rivals: NDArray[np.bool_],
        walks: NDArray[np.bool_],
        wanted: NDArray[np.uint8],
        pushes: NDArray[np.bool_],
    ) -> Expansion:
        """Split the few transitions in which a cell is contested."""
        if not rivals.any():
            counts = np.full(len(states), self.action_count)
            return Expansion(counts, None, successors.reshape(-1, self.state_bytes))
        outcomes = np.ones(rivals.shape, np.int64)
        contested = {}
        for row, joint in np.argwhere(rivals).tolist():
            found = self._outcomes(states[row], successors[row, joint], walks[row, joint], wanted[row], pushes[row])
            contested[row, joint] = found
            outcomes[row, joint] = len(found)
        flat = np.repeat(successors.reshape(-1, self.state_bytes), outcomes.ravel(), axis=0)
        probabilities = np.ones(len(flat))
        first = np.cumsum(outcomes.ravel()) - outcomes.ravel()
        for (row, joint), found in contested.items():
            at = first[row * self.action_count + joint]
            for k, (probability, state) in enumerate(found):
                flat[at + k], probabilities[at + k] = state, probability
        actions = np.repeat(np.tile(np.arange(self.action_count), len(states)), outcomes.ravel())
        return Expansion(outcomes.sum(axis=1), actions, flat, probabilities)

    def _outcomes(
        self,
        state: NDArray[np.uint8],
        turned: NDArray[np.uint8],
        walks: NDArray[np.bool_],
        wanted: NDArray[np.uint8],
        pushes: NDArray[np.bool_],
    ) -> list[tuple[float, NDArray[np.uint8]]]:
        """Every way in which contested cells can be given to one of those who want them."""
        walkers = [agent for agent in range(len(self.agents)) if walks[agent]]
        cells = sorted({int(wanted[agent]) for agent in walkers})
        choices = [[agent for agent in walkers if wanted[agent] == cell] for cell in cells]
        found = []
        for winners in itertools.product(*choices):
            after = turned[None, None].copy()
            for agent in winners:
                self._move(after, state[None], np.ones((1, 1), np.bool_), agent, wanted[None], pushes[None])
            found.append((1 / float(np.prod([len(choice) for choice in choices])), after[0, 0]))
        return found


def main() -> None:
    """Plan for the humans and the robot, and say what the robot does first."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--horizon", type=int, default=5)
    parser.add_argument("--memory-budget", default="64MB")
    parser.add_argument("--directory", help="keep everything there; a temporary folder otherwise")
    args = parser.parse_args()
    world, start = RockWorld(), time.process_time()
    prior = compute_human_policy_prior(
        world,
        human_agent_indices=world.humans,
        goals=world.cell_goals(),
        horizon=args.horizon,
        memory_budget=args.memory_budget,
        directory=args.directory,
    )
    robot = compute_robot_policy(prior)
    print(f"levels: {prior.transitions.level_sizes(args.horizon)}")
    print(f"{prior.transitions.state_count:,} distinct states, {prior.transitions.transition_count:,} transitions")
    print(f"{time.process_time() - start:.1f} s of processor time")
    chances = robot.probabilities(world.start()[0], time=0)
    for name, chance in zip(("still", "left turn", "right turn", "forward"), chances, strict=True):
        print(f"the robot begins with {name}: {chance:.4f}")


if __name__ == "__main__":
    main()
