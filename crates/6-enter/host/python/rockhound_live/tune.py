"""Searches of autotuned kernels, directed by `rockhound tune`.

The one idea to keep in mind: the command says which configuration to run; on the emulated GPU each one is compiled and run in a forked copy of the
program, so that it sees the same data, a crash or hang ends the copy only, and several run at once.
"""

import ast
import functools
import json
import os
import selectors
import socket
import tempfile
import textwrap
import time

from . import children

VARIABLE = "ROCKHOUND_TUNE"

_OPTIONS = ("num_warps", "num_stages", "num_ctas", "maxnreg", "ir_override")


class Connection:
    """Lines of JSON to the command and back."""

    def __init__(self, path):
        link = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        link.connect(path)
        self.file = link.makefile("rw", encoding="utf-8")

    def say(self, what, **fields):
        """Says something; returns the answer."""
        self.file.write(json.dumps({"say": what, **fields}) + "\n")
        self.file.flush()
        line = self.file.readline()
        if not line:
            raise ConnectionError("`rockhound tune` has ended")
        answer = json.loads(line)
        if answer.get("answer") == "refused":
            raise RuntimeError(f"rockhound tune: {answer['why']}")
        return answer


@functools.lru_cache(maxsize=None)
def _connection(process):
    return Connection(os.environ[VARIABLE])


def install(module):
    """The autotuner searches as the command says."""
    if VARIABLE not in os.environ:
        return
    run = module.Autotuner.run

    @functools.wraps(run)
    def searched(self, *arguments, **options):
        if children.is_child:
            return run(self, *arguments, **options)
        key = _key(self, arguments, options)
        if key not in self.__dict__.setdefault("_rockhound_keys", set()):
            self._rockhound_keys.add(key)
            Study(module, self, key, arguments, options).search()
        return run(self, *arguments, **options)

    module.Autotuner.run = searched


def _key(tuner, arguments, options):
    """The key of a call, as Triton makes it."""
    values = {**dict(zip(tuner.arg_names, arguments)), **options}
    values = {name: value for name, value in values.items() if name in tuner.arg_names}
    key = [values[name] for name in tuner.keys if name in values]
    key += [str(value.dtype) for value in values.values() if hasattr(value, "dtype")]
    return tuple(key)


def _value(value):
    """A value of a configuration as JSON."""
    return value if isinstance(value, (bool, int, float, str)) else str(value)


def _described(config):
    values = {name: _value(value) for name, value in config.kwargs.items()}
    for name in _OPTIONS:
        value = getattr(config, name, None)
        if value is not None and (name, value) != ("num_ctas", 1):
            values[name] = _value(value)
    if config.pre_hook is not None:
        values["pre_hook"] = getattr(config.pre_hook, "__qualname__", str(config.pre_hook))
    return values


def _source(tuner):
    """Triton's hash of a kernel and all that it calls; empty if it has none."""
    kernel = tuner.fn
    while kernel is not None and not hasattr(type(kernel), "cache_key"):
        kernel = getattr(kernel, "fn", None)
    try:
        return str(getattr(kernel, "cache_key", ""))
    except Exception:  # It reads the kernel's globals, which may be anything.
        return ""


def _summary(value):
    """What of an argument changes the time: a tensor's shape and strides, another's value."""
    if hasattr(value, "shape"):
        stride = getattr(value, "stride", None)
        return f"{tuple(value.shape)} {tuple(stride()) if callable(stride) else ''}"
    return repr(value) if isinstance(value, (bool, int, float, str)) else ""


def _function(tuner):
    """The kernel's Python function below decorators."""
    function = tuner.fn
    while hasattr(function, "fn"):
        function = function.fn
    return function


def _uses_dot(function):
    """Whether the kernel, or a function of its module that it calls, has a matrix product."""
    import inspect

    seen, open_ = set(), [function]
    while open_:
        function = open_.pop()
        function = getattr(function, "fn", function)
        if function in seen or not hasattr(function, "__code__"):
            continue
        seen.add(function)
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
        except (OSError, TypeError, SyntaxError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = getattr(node.func, "attr", getattr(node.func, "id", ""))
                if name in ("dot", "dot_scaled"):
                    return True
                called = function.__globals__.get(name)
                if type(called).__name__ == "JITFunction":
                    open_.append(called)
    return False


class Study:
    """The search for one kernel and key."""

    def __init__(self, module, tuner, key, arguments, options):
        self.module, self.tuner, self.key = module, tuner, key
        self.arguments, self.options = arguments, options
        self.link = _connection(os.getpid())
        self.seen = {}

    def search(self):
        """Searches, proves the winner, and makes it the one that the program uses."""
        tuner = self.tuner
        tuner.nargs = dict(zip(tuner.arg_names, self.arguments))
        self.listed = tuner.prune_configs(self.options)
        self.isolated = "ROCKHOUND_SESSION" in os.environ
        begun = self.link.say("begin", **self._facts())
        self.number, self.workers, self.limits = begun["study"], begun["workers"], begun["limits"]
        self.timings = {}
        started = time.time()
        (self._search_in_children if self.isolated else self._search_here)()
        winner, start = self._prove()
        # Without a winner the program goes on with the start, whatever was faster.
        used = start if winner is None else winner
        if used is not None:
            self._use(self._configuration(used), time.time() - started)
        self.link.say("end", study=self.number, cache=self._cache() if winner is not None else None)

    def _facts(self):
        tuner, function = self.tuner, _function(self.tuner)
        code = getattr(function, "__code__", None)
        values = {**tuner.nargs, **self.options}
        names = [name for name in tuner.keys if name in values]
        return {
            "kernel": getattr(tuner.base_fn, "__name__", "kernel"),
            "key": [[name, str(values[name])] for name in names],
            "types": [[name, str(value.dtype)] for name, value in values.items() if hasattr(value, "dtype")],
            "bytes": [_bytes(value) for value in values.values() if hasattr(value, "dtype")],
            "file": getattr(code, "co_filename", ""),
            "line": getattr(code, "co_firstlineno", 0),
            "source": _source(tuner),
            "arguments": [[name, _summary(value)] for name, value in values.items()],
            "configurations": [list(_described(config).items()) for config in self.listed],
            "all": len(tuner.configs),
            "own": sorted(set(getattr(function, "__annotations__", {})) | set(tuner.arg_names)),
            "dot": function is not None and _uses_dot(function),
            "grid_follows": callable(self.options.get("grid")),
            "isolated": self.isolated,
        }

    def _configuration(self, answer):
        """The configuration that an answer of the command means."""
        if answer.get("listed") is not None:
            return self.listed[answer["listed"]]
        like = self.listed[0]
        kwargs, options = dict(like.kwargs), {name: getattr(like, name) for name in _OPTIONS if hasattr(like, name)}
        for name, value in answer["values"].items():
            (options if name in options else kwargs)[name] = value
        return self.module.Config(kwargs, pre_hook=like.pre_hook, **options)

    def _tell(self, answer, result):
        microseconds = result.get("us")
        self.timings[self._configuration(answer)] = float("inf") if microseconds is None else microseconds / 1e3
        if result.get("code") is not None and microseconds is not None:
            self.seen.setdefault(result["code"], microseconds)
        fields = {name: result[name] for name in ("us", "failed", "build_s", "run_s") if name in result}
        self.link.say("tell", study=self.number, id=answer["id"], **fields)

    def _search_in_children(self):
        """Keeps as many copies of the program busy as there are workers."""
        ready, finished = selectors.DefaultSelector(), False
        try:
            while True:
                while not finished and len(ready.get_map()) < self.workers:
                    answer = self.link.say("ask", study=self.number)
                    if answer["answer"] != "run":
                        finished = answer["answer"] == "finished"
                        break
                    config, seen = self._configuration(answer), dict(self.seen)
                    child = children.Child(lambda: self._timed(config, seen), self.limits)  # noqa: B023
                    ready.register(child.result, selectors.EVENT_READ, (child, answer))
                if not ready.get_map():
                    break
                for entry, _ in ready.select(timeout=1.0):
                    child, answer = entry.data
                    if child.has_ended():
                        ready.unregister(child.result)
                        self._tell(answer, child.outcome())
                for entry in list(ready.get_map().values()):
                    entry.data[0].end_if_late()
        finally:
            for entry in ready.get_map().values():
                entry.data[0].kill()

    def _search_here(self):
        """On the GPU of the machine: one after the other, in this process."""
        while True:
            answer = self.link.say("ask", study=self.number)
            if answer["answer"] != "run":
                break
            try:
                self._tell(answer, self._timed(self._configuration(answer), {}))
            except Exception as error:  # noqa: BLE001: any error is that of the configuration
                self._tell(answer, {"failed": {"kind": "run", "why": children.first_line(error)}})

    def _meta(self, config):
        return {**self.options, **config.all_kwargs()}

    def _timed(self, config, seen):
        """Compiles and runs a configuration; `seen` has the times of codes that ran."""
        tuner, started = self.tuner, time.perf_counter()
        try:
            code = self._compiled(config)
        except Exception as error:  # noqa: BLE001: the compiler may raise anything
            return {"failed": {"kind": "build", "why": children.first_line(error)}, "build_s": time.perf_counter() - started}
        result = {"build_s": time.perf_counter() - started, "code": code}
        if code is not None and code in seen:
            return {**result, "us": seen[code], "run_s": 0.0}
        started = time.perf_counter()
        from . import timing

        found = tuner._bench(*self.arguments, config=config, **self.options)
        found = found[0] if isinstance(found, (list, tuple)) else found
        result["run_s"] = time.perf_counter() - started
        if found != found:
            return {**result, "failed": {"kind": "no_time", "why": "nothing was launched that has a time"}}
        if found == float("inf"):
            why = timing._reason or "it cannot be launched"
            return {**result, "failed": {"kind": "rejected", "why": why.split(". Reducing ")[0].removeprefix("OutOfResources: ")}}
        return {**result, "us": found * 1e3}

    def _compiled(self, config):
        """Compiles; returns what the time depends on, or nothing where it is not known."""
        meta = self._meta(config)
        kernel = self.tuner.fn.run(*self.arguments, **{**meta, "warmup": True})
        binary = getattr(kernel, "asm", {}).get("hsaco")
        if not self.isolated or binary is None or config.pre_hook is not None:
            return None
        import hashlib

        grid = meta.get("grid")
        if callable(grid):
            grid = grid({**self.tuner.nargs, **meta})
        return hashlib.sha256(binary + repr((grid, kernel.metadata.shared, kernel.metadata.num_warps)).encode()).hexdigest()

    def _prove(self):
        """Runs start and fastest configurations with mistakes looked for; returns the first that passes, and the start."""
        candidates = self.link.say("candidates", study=self.number)
        if not self.isolated or not candidates["check"]:
            return (candidates["fastest"][0] if candidates["fastest"] else None), candidates["start"]
        start = candidates["start"]
        if start is not None:
            self._check(start)
        for answer in candidates["fastest"]:
            if self._check(answer)["passed"]:
                return answer, start
        return None, start

    def _check(self, answer):
        config, folder = self._configuration(answer), tempfile.mkdtemp(prefix="rockhound-tune-")
        try:
            child = children.Child(lambda: self._checked(config, folder), self.limits)
            result = child.wait()
            return self.link.say("checked", study=self.number, id=answer["id"], buffers=result.get("buffers", []), mistakes=result.get("mistakes", []),
                                 failed=result.get("failed"))  # fmt: skip
        finally:
            import shutil

            shutil.rmtree(folder, ignore_errors=True)

    def _checked(self, config, folder):
        """Runs a configuration once; what it leaves in memory goes to files."""
        from . import hip

        tuner, meta = self.tuner, self._meta(config)
        every = {**tuner.nargs, **meta}
        hip.check("races,uninit")
        try:
            if config.pre_hook:
                config.pre_hook(every)
            tuner.pre_hook(every)
            tuner.fn.run(*self.arguments, **meta)
        except Exception as error:  # noqa: BLE001: any error is that of the configuration
            return {"failed": {"kind": "run", "why": children.first_line(error)}}
        buffers = []
        for name, value in every.items():
            if hasattr(value, "dtype") and hasattr(value, "shape"):
                file = os.path.join(folder, f"{len(buffers)}.bin")
                with open(file, "wb") as out:
                    out.write(_raw(value))
                buffers.append({"name": name, "type": str(value.dtype).replace("torch.", ""), "file": file})
        return {"buffers": buffers, "mistakes": children.findings()}

    def _use(self, winner, seconds):
        tuner = self.tuner
        tuner.cache[self.key] = winner
        tuner.configs_timings, tuner.bench_time = self.timings, seconds
        if len(tuner.configs) == 1 and winner not in tuner.configs:
            # Triton does not look into its cache for a single one.
            tuner.configs = [*tuner.configs, winner]

    def _cache(self):
        """The file that Triton's own cache of results would have: its place in the cache, and text. Written where the kernel caches results."""
        tuner, module, kept = self.tuner, self.module, []
        if not hasattr(tuner, "check_disk_cache"):
            return None
        real = module.get_cache_manager

        class Manager:
            """Finds nothing, and shows what is put."""

            def __init__(self, key):
                self.folder, self.real = real(key), tuner.cache_results and real(key)

            def get_file(self, name):
                return None

            def put(self, text, name, binary=False):
                kept.append({"place": os.path.join(os.path.basename(getattr(self.folder, "cache_dir", "") or ""), name), "text": text})
                return self.real.put(text, name, binary=binary) if self.real else None

        module.get_cache_manager = Manager
        try:
            tuner.check_disk_cache(self.key, self.listed, lambda: None)
        except (TypeError, ValueError, AttributeError):
            return None
        finally:
            module.get_cache_manager = real
        return kept[0] if kept else None


def _bytes(value):
    size = getattr(value.dtype, "itemsize", None)
    return int(size) if size else 4


def _raw(value):
    """Bytes of a tensor of torch or an array of NumPy, in the order of its elements."""
    if hasattr(value, "untyped_storage"):
        import ctypes

        storage = value.untyped_storage()
        return ctypes.string_at(storage.data_ptr(), storage.nbytes())
    return value.tobytes()
