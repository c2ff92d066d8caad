"""OpenMM's HIP platform against its Reference platform: energies and forces of water-like molecules with PME and without."""

import numpy
import openmm
from checks import close, each
from openmm import unit

MOLECULES, EDGE = 216, 1.86206


def single(value):
    """GPU platforms keep parameters in single precision, also where they compute in double."""
    return float(numpy.float32(value))


def system(method, cutoff):
    """Flexible three-site water on a lattice, with random displacements: bonds, angles, charges and Lennard-Jones."""
    random = numpy.random.default_rng(49)
    made = openmm.System()
    made.setDefaultPeriodicBoxVectors((EDGE, 0, 0), (0, EDGE, 0), (0, 0, EDGE))
    bonds, angles, nonbonded = openmm.HarmonicBondForce(), openmm.HarmonicAngleForce(), openmm.NonbondedForce()
    nonbonded.setNonbondedMethod(method)
    nonbonded.setCutoffDistance(cutoff)
    # The platforms would choose meshes of different sizes, whose energies differ by the tolerance of the Ewald sum.
    nonbonded.setPMEParameters(3.2, 30, 30, 30)
    places, pairs = [], []
    side = round(MOLECULES ** (1 / 3))
    for number in range(MOLECULES):
        lattice = numpy.array([number % side, number // side % side, number // side**2]) * EDGE / side
        turn = numpy.linalg.qr(numpy.eye(3) + 0.5 * random.standard_normal((3, 3)))[0]
        shape = numpy.array([[0, 0, 0], [0.09572, 0, 0], [-0.02399872, 0.09266272, 0]])
        places += list(shape @ turn + lattice + random.uniform(-0.005, 0.005, 3))
        oxygen = 3 * number
        for mass, charge, sigma, epsilon in ((15.999, -0.834, 0.315061, 0.6364), (1.008, 0.417, 1, 0), (1.008, 0.417, 1, 0)):
            made.addParticle(mass)
            nonbonded.addParticle(single(charge), single(sigma), single(epsilon))
        for hydrogen in (1, 2):
            bonds.addBond(oxygen, oxygen + hydrogen, single(0.09572), 462752)
            pairs.append((oxygen, oxygen + hydrogen))
        angles.addAngle(oxygen + 1, oxygen, oxygen + 2, single(1.82421813), 836.75)
    nonbonded.createExceptionsFromBonds(pairs, 0.5, 0.5)
    for force in (bonds, angles, nonbonded):
        made.addForce(force)
    return made, numpy.array(places)


def state(platform, precision, method, cutoff=0.8, steps=0):
    made, places = system(method, cutoff)
    integrator = openmm.VerletIntegrator(0.0005)
    options = {"Precision": precision} if precision else {}
    context = openmm.Context(made, integrator, openmm.Platform.getPlatformByName(platform), options)
    context.setPositions(places)
    if steps:
        context.setVelocities(numpy.zeros_like(places))
        integrator.step(steps)
    got = context.getState(getEnergy=True, getForces=True, getPositions=True)
    energy = got.getPotentialEnergy().value_in_unit(unit.kilojoule_per_mole)
    forces = got.getForces(asNumpy=True).value_in_unit(unit.kilojoule_per_mole / unit.nanometer)
    return energy, forces


METHODS = {
    "no cutoff": openmm.NonbondedForce.NoCutoff,
    "cutoff": openmm.NonbondedForce.CutoffPeriodic,
    "PME": openmm.NonbondedForce.PME,
}
# Energy and forces. Below double precision OpenMM approximates erfc with an error of 1.5e-7 for each pair of charges, and adds up forces in single precision.
LIMITS = {"double": (1e-6, 1e-6), "mixed": (1e-5, 1e-4), "single": (1e-5, 1e-4)}


def compared(name, precision, steps=0):
    def compare():
        method = METHODS[name]
        want, got = state("Reference", None, method, steps=steps), state("HIP", precision, method, steps=steps)
        after = f" after {steps} steps" if steps else ""
        energy_limit, force_limit = LIMITS[precision]
        close(f"energy, {name}, {precision}{after}", got[0], want[0], energy_limit)
        close(f"forces, {name}, {precision}{after}", got[1], want[1], force_limit)

    compare.__name__ = f"{name}, {precision}"
    return compare


each([compared(name, precision) for name in METHODS for precision in LIMITS] + [compared("PME", "double", steps=5)])
