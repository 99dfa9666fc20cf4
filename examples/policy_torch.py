"""A PyTorch policy that is trained through the simulation: a network maps a start and a goal to the torques between.

    python examples/policy_torch.py [--output policy.svg]

The loss is a function of the states of a rollout, and its gradient flows back through every step of the integrator.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import torch

import grid_rbd.torch

ARM = Path(__file__).parent / "robots" / "arm7.urdf"
STEPS, DT = 25, 0.02
BATCH, ITERATIONS = 32, 150
ACCELERATION = 10.0  # rad/s^2, what an output of 1 of the network means


class Policy(torch.nn.Module):
    """Accelerations of all steps, which become torques where the arm starts."""

    def __init__(self, nv: int) -> None:
        super().__init__()
        hidden = 128
        self.layers = torch.nn.Sequential(
            torch.nn.Linear(2 * nv, hidden), torch.nn.Tanh(), torch.nn.Linear(hidden, STEPS * nv)
        )
        self.nv = nv

    def forward(self, start: torch.Tensor, goal: torch.Tensor) -> torch.Tensor:
        return ACCELERATION * self.layers(torch.cat([start, goal], -1)).reshape(-1, STEPS, self.nv)


def tasks(robot: grid_rbd.torch.TorchRobotHandle, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return starts and goals (BATCH, nq), near each other."""
    start = 0.5 * robot.random(seed=seed, n=BATCH)
    return start, start + 0.2 * robot.random(seed=seed + 1, n=BATCH)


def missed(
    robot: grid_rbd.torch.TorchRobotHandle, policy: Policy, start: torch.Tensor, goal: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """Return how far from the goal the arm ends (BATCH, nq), rad, and how fast it is there (BATCH, nv), rad/s."""
    wished = policy(start, goal)
    torques = wished @ robot.crba(start) + robot.generalized_gravity(start)[:, None]
    states = robot.rollout(start, torch.zeros_like(start), torques, DT, integrator_type="semi_implicit_euler")
    return states[:, -1, : robot.nq] - goal, states[:, -1, robot.nq :]


def train(robot: grid_rbd.torch.TorchRobotHandle) -> list[float]:
    """Return the mean distance to goals that no iteration was trained on, over the iterations, rad."""
    torch.manual_seed(0)
    policy = Policy(robot.nv)
    optimiser = torch.optim.Adam(policy.parameters(), lr=2e-3)
    history = []
    for iteration in range(ITERATIONS):
        with torch.no_grad():
            history.append(float(missed(robot, policy, *tasks(robot, 1))[0].norm(dim=-1).mean()))
        place, speed = missed(robot, policy, *tasks(robot, 10 + 2 * iteration))
        loss = place.square().sum(-1).mean() + 0.02 * speed.square().sum(-1).mean()
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
        optimiser.step()
    return history


def draw(history: list[float], path: Path) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(figsize=(6, 3.5), layout="constrained")
    axes.plot(history, color="tab:orange")
    axes.set(xlabel="iteration", ylabel="distance to new goals (rad)", title="A policy trained through the dynamics")
    axes.set_ylim(bottom=0.0)
    figure.savefig(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--output", type=Path, default=Path("policy.svg"), help="picture (default: %(default)s)")
    path = parser.parse_args().output
    history = train(grid_rbd.torch.load_robot(ARM, lazy=True))
    draw(history, path)
    print(f"distance to new goals: {history[0]:.3f} rad before, {history[-1]:.3f} rad after training; picture: {path}")


if __name__ == "__main__":
    main()
