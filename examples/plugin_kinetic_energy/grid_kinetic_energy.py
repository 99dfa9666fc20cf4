"""Kinetic energy of a robot, and its gradient by automatic differentiation."""

from grid_core.plugins import Algorithm, Input, Output, hookimpl

Q = Input("q", ("nq",), "configuration", tangent="configuration")
QD = Input("qd", ("nv",), "velocity (rad/s, m/s)")


def energy(k):
    qd = k.input("qd")
    momentum = [sum(m * v for m, v in zip(row, qd)) for row in k.call("crba", q=k.input("q"))]
    k.output("energy", 0.5 * sum(p * v for p, v in zip(momentum, qd)))


def slope(k):
    t = k.call("kinetic_energy", q=k.input("q"), qd=k.input("qd"))
    k.output("gradient", k.jacobian(t, "q")[0] + k.jacobian(t, "qd")[0])


@hookimpl
def grid_algorithms():
    t, dt = Output("energy", (), "kinetic energy (J)"), Output("gradient", ("2*nv",), "[dT/dq | dT/dqd]")
    yield Algorithm("kinetic_energy", "energy", "T = qd' M qd / 2.", (Q, QD), (t,), energy, ("crba",))
    yield Algorithm("kinetic_energy_gradient", "energy", "Gradient of T.", (Q, QD), (dt,), slope, ("kinetic_energy",))
