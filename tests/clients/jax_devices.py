"""jax on two GPUs against its CPU backend."""

import jax
import jax.numpy as jnp
import numpy
from checks import close, each, same

RANDOM = numpy.random.default_rng(49)
CPU = jax.devices("cpu")[0]
# Otherwise products of float32 use xf32, with ten bits of mantissa, on MI300.
jax.config.update("jax_default_matmul_precision", "highest")


def numbers(*shape, dtype="float32"):
    return RANDOM.standard_normal(shape).astype(dtype)


def both(name, function, *inputs, limit=1e-5):
    """The function on the GPU against the CPU."""
    gpu = jax.jit(function)(*(jax.device_put(it, jax.devices()[0]) for it in inputs))
    with jax.default_device(CPU):
        cpu = jax.jit(function)(*(jax.device_put(it, CPU) for it in inputs))
    for number, (got, want) in enumerate(zip(jax.tree.leaves(gpu), jax.tree.leaves(cpu))):
        close(name if number == 0 else f"{name}, result {number}", numpy.asarray(got, "float64" if jnp.isrealobj(got) else None),
              numpy.asarray(want, "float64" if jnp.isrealobj(want) else None), limit)


def devices():
    same("devices", [it.platform for it in jax.devices()], ["gpu", "gpu"])


def matmul():
    both("matmul, float32", jnp.matmul, numbers(96, 64), numbers(64, 80))
    both("matmul, batched", jnp.matmul, numbers(4, 33, 65), numbers(4, 65, 17))
    both("matmul, bfloat16", lambda a, b: (a.astype("bfloat16") @ b.astype("bfloat16")).astype("float32"), numbers(64, 64), numbers(64, 64), limit=1e-2)


def convolution():
    def conv(x, w):
        return jax.lax.conv_general_dilated(x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"))

    both("convolution", conv, numbers(2, 3, 16, 16), numbers(8, 3, 3, 3))
    strided = lambda x, w: jax.lax.conv_general_dilated(x, w, (2, 2), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    both("convolution, strides of 2", strided, numbers(2, 17, 17, 4), numbers(3, 3, 4, 8))
    both("gradient of a convolution", jax.grad(lambda x, w: (conv(x, w) ** 2).sum(), argnums=(0, 1)), numbers(2, 3, 8, 8), numbers(4, 3, 3, 3), limit=1e-4)


def fourier():
    both("fft", lambda x: jnp.fft.fft(x), numbers(4, 60))
    both("rfft and irfft", lambda x: (jnp.fft.rfft(x), jnp.fft.irfft(jnp.fft.rfft(x))), numbers(3, 128))
    both("fft2", lambda x: jnp.fft.fft2(x), numbers(2, 16, 24))


def gradient():
    def loss(parameters, x, y):
        hidden = jnp.tanh(x @ parameters["a"] + parameters["b"])
        return jnp.mean((hidden @ parameters["c"] - y) ** 2)

    parameters = {"a": numbers(10, 32), "b": numbers(32), "c": numbers(32, 5)}
    x, y = numbers(16, 10), numbers(16, 5)
    both("gradient of a net", lambda p, x, y: jax.value_and_grad(loss)(p, x, y), parameters, x, y)


def scan():
    def step(state, x):
        state = jnp.sin(state) * 0.9 + x
        return state, state.sum()

    both("scan", lambda s, xs: jax.lax.scan(step, s, xs), numbers(50), numbers(20, 50))
    both("while loop", lambda x: jax.lax.while_loop(lambda it: it[0] < 10, lambda it: (it[0] + 1, it[1] * 1.1), (0, x)), numbers(33))
    both("cumulative sum", lambda x: jnp.cumsum(x, axis=1), numbers(5, 300))


def elementwise():
    both("functions of elements", lambda x: (jnp.exp(x), jnp.log1p(x * x), jnp.sin(x), jax.nn.gelu(x), jax.scipy.special.erf(x)), numbers(1000))
    both("softmax", lambda x: jax.nn.softmax(x, axis=-1), numbers(20, 100))
    both("sort", lambda x: jnp.sort(x, axis=-1), numbers(6, 200), limit=0)
    both("gather and scatter", lambda x, i: x.at[i].add(x[i[::-1]]), numbers(100, 3), RANDOM.permutation(100)[:40])
    key = jax.random.key(0)
    with jax.default_device(CPU):
        want = jax.random.normal(jax.random.key(0), (500,))
    close("random numbers", jax.random.normal(key, (500,)), want, 1e-5)


def solve():
    square = numbers(20, 20)
    positive = square @ square.T + 20 * numpy.eye(20, dtype="float32")
    both("cholesky", jnp.linalg.cholesky, positive)
    both("solve", jnp.linalg.solve, positive, numbers(20, 3), limit=1e-4)


def pmap():
    x = numbers(2, 64)
    close("pmap", jax.pmap(lambda it: jnp.cos(it) * 2)(x), numpy.cos(x) * 2, 1e-6)
    total = jax.pmap(lambda it: jax.lax.psum(it, "i"), axis_name="i")(x)
    close("all-reduce of two GPUs", total, numpy.stack([x.sum(0)] * 2), 1e-6)
    gathered = jax.pmap(lambda it: jax.lax.all_gather(it, "i"), axis_name="i")(x)
    close("all-gather of two GPUs", gathered, numpy.stack([x] * 2), 0)
    moved = jax.pmap(lambda it: jax.lax.ppermute(it, "i", [(0, 1), (1, 0)]), axis_name="i")(x)
    close("permutation of two GPUs", moved, x[::-1], 0)


each([devices, matmul, convolution, fourier, gradient, scan, elementwise, solve, pmap])
