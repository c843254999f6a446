"""Backward induction a second time: plain dictionaries, straight from the definitions, one number at a time."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass


@dataclass
class Problem:
    """`outcomes(state, joint)` gives {successor: probability}, {} for all actions of a terminal state."""

    start: list
    outcomes: object
    counts: list  # actions of each agent
    humans: list
    goals: int
    holds: object  # (state, human, goal)
    horizon: int

    @property
    def joint_actions(self):
        return math.prod(self.counts)

    def acts(self, joint):
        return [joint // math.prod(self.counts[:k]) % self.counts[k] for k in range(len(self.counts))]

    def joint(self, acts):
        return sum(act * math.prod(self.counts[:k]) for k, act in enumerate(acts))

    def levels(self):
        levels = [set(self.start)]
        for _ in range(self.horizon):
            following = set()
            for state in levels[-1]:
                for joint in range(self.joint_actions):
                    following |= set(self.outcomes(state, joint))
            levels.append(following)
        return levels

    def is_terminal(self, state):
        return not self.outcomes(state, 0)


def human_policies(problem, beta, discount):
    """{(time, state, human, goal): V} and {(time, state, human, goal): [chance of each action]}."""
    values, policies = {}, {}
    robots = [k for k in range(len(problem.counts)) if k not in problem.humans]
    for time in range(problem.horizon - 1, -1, -1):
        for state, place, goal in itertools.product(
            problem.levels_cache[time], range(len(problem.humans)), range(problem.goals)
        ):
            human = problem.humans[place]
            own, at = problem.counts[human], (time, state, human, goal)
            if problem.holds(state, human, goal):
                values[at], policies[at] = 0.0, [1.0] + [0.0] * (own - 1)
                continue
            if problem.is_terminal(state):
                values[at], policies[at] = 0.0, [1 / own] * own
                continue
            others = [k for k in problem.humans if k != human]
            q = []
            for action in range(own):
                sums = []
                for other_acts in itertools.product(*(range(problem.counts[k]) for k in others)):
                    worst = math.inf
                    for robot_acts in itertools.product(*(range(problem.counts[k]) for k in robots)):
                        acts = [0] * len(problem.counts)
                        acts[human] = action
                        for k, act in zip(others + robots, other_acts + robot_acts, strict=True):
                            acts[k] = act
                        total = 0.0
                        for successor, chance in problem.outcomes(state, problem.joint(acts)).items():
                            if problem.holds(successor, human, goal):
                                total += float(chance)
                            else:
                                later = values.get((time + 1, successor, human, goal), 0.0)
                                total += float(chance) * discount[place] * later
                        worst = min(worst, total)
                    sums.append(worst)
                q.append(sum(sums) / len(sums))
            exponents = [math.exp(beta[place] * (x - max(q))) for x in q]
            policies[at] = [x / sum(exponents) for x in exponents]
            values[at] = sum(p * x for p, x in zip(policies[at], q, strict=True))
    return values, policies


def robot_policies(problem, policies, discount_h, weights, beta, discount, zeta, xi, eta, least_power=0.0):
    """{(time, state): ...} of V_r and the policy, {(time, state, human, goal): V_e}, {(time, state, human): X}."""
    robots = [k for k in range(len(problem.counts)) if k not in problem.humans]
    robot_acts_list = [tuple(reversed(t)) for t in itertools.product(*(range(problem.counts[k]) for k in robots[::-1]))]
    v_r, pi_r, v_e, powers = {}, {}, {}, {}
    factor = 1.0 if discount == 1 else (1 - discount) / -math.log(discount)
    for time in range(problem.horizon - 1, -1, -1):
        for state in problem.levels_cache[time]:
            at = (time, state)
            if problem.is_terminal(state):
                v_r[at], pi_r[at] = -1e-10, [1 / len(robot_acts_list)] * len(robot_acts_list)
                continue
            average = {}
            for place, human in enumerate(problem.humans):
                w = weights[place]
                average[human] = [
                    sum(w[g] * policies[time, state, human, g][a] for g in range(problem.goals)) / sum(w)
                    for a in range(problem.counts[human])
                ]
            humans_acts = list(itertools.product(*(range(problem.counts[k]) for k in problem.humans)))

            def joint_of(human_acts, robot_acts):
                acts = [0] * len(problem.counts)
                for k, act in zip(problem.humans + robots, human_acts + robot_acts, strict=True):
                    acts[k] = act
                return problem.joint(acts)

            q = []
            for robot_acts in robot_acts_list:
                total = 0.0
                for human_acts in humans_acts:
                    chance = math.prod(average[k][a] for k, a in zip(problem.humans, human_acts, strict=True))
                    if chance == 0:
                        continue
                    for successor, p in problem.outcomes(state, joint_of(human_acts, robot_acts)).items():
                        total += chance * float(p) * discount * v_r.get((time + 1, successor), -1e-10)
                q.append(total)
            if all(math.isinf(x) for x in q):
                pi = [1 / len(q)] * len(q)
            else:
                logs = [-math.inf if math.isinf(x) else -beta * math.log(-x) for x in q]
                scale = [math.exp(x - max(logs)) for x in logs]
                pi = [x / sum(scale) for x in scale]
            pi_r[at] = pi
            xs = []
            for place, human in enumerate(problem.humans):
                power = 0.0
                for goal in range(problem.goals):
                    total = 0.0
                    for r, robot_acts in enumerate(robot_acts_list):
                        for human_acts in humans_acts:
                            chance = pi[r]
                            for k, act in zip(problem.humans, human_acts, strict=True):
                                chance *= policies[time, state, human, goal][act] if k == human else average[k][act]
                            for successor, p in problem.outcomes(state, joint_of(human_acts, robot_acts)).items():
                                if problem.holds(successor, human, goal):
                                    total += chance * float(p)
                                else:
                                    later = v_e.get((time + 1, successor, human, goal), 0.0)
                                    total += chance * float(p) * discount_h[place] * later
                    v_e[time, state, human, goal] = total
                    power += weights[place][goal] * total**zeta
                power = max(power, least_power)
                powers[time, state, human] = power
                xs.append(math.inf if power == 0 else power**-xi)
            mean = sum(xs) / len(xs)
            v_r[at] = -factor * mean**eta + sum(p * x for p, x in zip(pi, q, strict=True) if p > 0)
    return v_r, pi_r, v_e, powers


def optimal_values(problem, reward, cost, discount, operator, beta):
    """{(time, state): V} and {(time, state): {action: chance}} of one agent; reward(state, action, successor)."""
    values, chances = {}, {}
    for time in range(problem.horizon - 1, -1, -1):
        for state in problem.levels_cache[time]:
            q = {}
            for action in range(problem.joint_actions):
                found = problem.outcomes(state, action)
                if found:
                    q[action] = -cost[action] + sum(
                        float(p) * (reward(state, action, s) + discount * values.get((time + 1, s), 0.0))
                        for s, p in found.items()
                    )
            if not q:
                values[time, state], chances[time, state] = 0.0, {}
                continue
            best = max(q.values())
            if operator == "max":
                chances[time, state] = {min(a for a in q if q[a] == best): 1.0}
                values[time, state] = best
                continue
            total = sum(math.exp(beta * (x - best)) for x in q.values())
            chances[time, state] = {a: math.exp(beta * (x - best)) / total for a, x in q.items()}
            mean = sum(chances[time, state][a] * x for a, x in q.items())
            values[time, state] = mean if operator == "softmax" else best + math.log(total) / beta
    return values, chances
