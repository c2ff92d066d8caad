"""Modelled times for benchmarks and for the autotuner.

The one idea to keep in mind: what finds the same in the caches takes the same time in the model, and benchmarks empty them, so what a benchmark repeats is emulated once.
"""

import time

from . import hip, notes

_benchmarks = 0
_reason = None


def _measured(function):
    """Milliseconds of the work that a function launches; whether they are modelled; launches."""
    hip.call("rockhoundEmptyCaches")
    before, started = hip.elapsed(), time.perf_counter()
    function()
    after, ended = hip.elapsed(), time.perf_counter()
    launches, unknown = (after[index] - before[index] for index in (1, 2))
    if unknown:
        return (ended - started) * 1e3, False, launches
    return (after[0] - before[0]) / 1e6, True, launches


def _milliseconds(function):
    global _benchmarks, _reason
    was_on = hip.measure(True)
    try:
        number = _benchmarks = _benchmarks + 1
        found = _measured(function)
        if number != _benchmarks:
            # The first call tuned something; that is not what is asked for.
            found = _measured(function)
    except Exception as error:
        _reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise
    finally:
        hip.measure(was_on)
    milliseconds, is_modelled, launches = found
    if not launches:
        hip.say_once("what is benchmarked launches no kernel on the emulated GPU (torch's own operations run on the CPU): its time is nan")
        return float("nan")
    if is_modelled:
        hip.say_once("times of benchmarks and of the autotuner are modelled; what they repeat is emulated once")
    else:
        hip.say_once("times of benchmarks are how long the emulation took: this run models no time")
    return milliseconds


def do_bench(fn, warmup=25, rep=100, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """`triton.testing.do_bench` with the modelled time of what `fn` launches, milliseconds."""
    if return_mode not in ("min", "max", "mean", "median", "all"):
        raise AssertionError(f"return_mode is {return_mode!r}")
    found = _milliseconds(fn)
    for tensor in grad_to_none or ():
        tensor.grad = None
    if quantiles is not None:
        return found if len(quantiles) == 1 else [found] * len(quantiles)
    return [found] if return_mode == "all" else found


def do_bench_cudagraph(fn, rep=20, grad_to_none=None, quantiles=None, return_mode="mean", **_):
    """The same for what Triton would put into a graph."""
    return do_bench(fn, grad_to_none=grad_to_none, quantiles=quantiles, return_mode=return_mode)


def install_testing(module):
    """`triton.testing` measures with the model."""
    module.do_bench, module.do_bench_cudagraph = do_bench, do_bench_cudagraph


def install_autotuner(module):
    """Launches of the autotuner say so in the recording."""
    bench = module.Autotuner._bench

    def _bench(self, *arguments, config, **meta):
        global _reason
        values = {**dict(zip(self.arg_names, arguments)), **meta}
        key = ", ".join(f"{each}={values[each]}" for each in self.keys if each in values)
        before, notes.tuning, _reason = notes.tuning, key, None
        try:
            found = bench(self, *arguments, config=config, **meta)
            if found and found[0] == float("inf"):
                plain = {name: value for name, value in config.all_kwargs().items() if value is not None and (name, value) != ("num_ctas", 1)}
                notes.configuration_failed(self.base_fn.__name__, plain, _reason or "cannot be launched")
            return found
        finally:
            notes.tuning = before

    module.Autotuner._bench = _bench
    limit = hip.session()["autotune_limit"]
    if limit is not None:
        _try_few(module.Autotuner, limit)


class _Few(list):
    """Configurations of an autotuner, which end when it has launched enough of them."""

    tuner = None

    def __iter__(self):
        for each in super().__iter__():
            if self.tuner._rockhound_left == 0:
                return
            yield each


def _try_few(autotuner, limit):
    """The first configurations of each list that can be launched are tried."""
    prune, bench = autotuner.prune_configs, autotuner._bench

    def prune_configs(self, *arguments, **options):
        configurations = _Few(prune(self, *arguments, **options))
        if len(configurations) > limit:
            hip.say_once(f"autotuners try the first {limit} of their configurations (`--autotune-limit`)")
        configurations.tuner, self._rockhound_left = self, limit
        return configurations

    def _bench(self, *arguments, **options):
        found = bench(self, *arguments, **options)
        self._rockhound_left -= not (found and found[0] == float("inf"))
        return found

    autotuner.prune_configs, autotuner._bench = prune_configs, _bench


class Event:
    """`torch.cuda.Event`: a moment on the time line of the library."""

    def __init__(self, enable_timing=False, blocking=False, interprocess=False, external=False):
        self.timing, self.moment = enable_timing, None

    def record(self, stream=None):
        if self.timing:
            # Launches after the first event with a time are timed, recorded or not.
            hip.measure(True)
        self.moment = hip.elapsed(), time.perf_counter()

    def elapsed_time(self, end):
        if not (self.timing and end.timing) or self.moment is None or end.moment is None:
            raise RuntimeError("both events must be recorded, with `enable_timing=True`")
        (before, started), (after, ended) = self.moment, end.moment
        if after[2] != before[2]:
            hip.say_once("times between events are how long the emulation took: not all work between them has a modelled time")
            return (ended - started) * 1e3
        hip.say_once("times between events are modelled: kernels take what the model says, one after the other; all else takes none")
        return (after[0] - before[0]) / 1e6

    def synchronize(self):
        pass

    def wait(self, stream=None):
        pass

    def query(self):
        return True


class Interface:
    """What benchmarks ask of a device where torch is not installed."""

    Event = Event

    @staticmethod
    def synchronize(device=None):
        """Work is done when its launch returns."""

    @staticmethod
    def current_device():
        """Number of the GPU in use."""
        return hip.current_device()
