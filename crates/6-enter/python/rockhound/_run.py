"""Commands started as processes: their answers as values, their errors as exceptions."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import threading
from dataclasses import dataclass
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from .__main__ import find_command
from ._documents import Document
from ._error import RockhoundError

Text = Union[str, int, float, "os.PathLike[str]"]
"""A word of a command line: a name, a number, a path."""
Texts = Union[Text, Sequence[Text]]
"""One or several."""
Progress = Callable[[str], None]
"""Gets each line that a command says while it works."""

_PATIENCE = 10.0
"""Seconds that an interrupted command gets to write down what it has."""


@dataclass(frozen=True)
class Ran:
    """A command without a document that ended.

    Attributes:
        text: what it printed.
        messages: what it said meanwhile.
        code: its exit code; for ``run`` and ``profile`` the program's.
    """

    text: str
    messages: str
    code: int


def document(
    command: List[str],
    positionals: Sequence[Optional[Text]],
    options: Mapping[str, Any],
    program: Sequence[Text],
    progress: Optional[Progress],
) -> Document:
    """The JSON document of a command; its attribute ``code`` is 2 if a condition of ``--fail-on`` is met."""
    line = _line(command, positionals, {"format": "json", **options}, program)
    output, messages, code = _run(line, progress)
    try:
        answer = json.loads(output)
    except ValueError:
        if code not in (0, 2):
            raise _error(messages, code) from None
        # A script, a picture, a file: the command wrote it instead of a document.
        answer = {"text": output, "messages": messages}
    if isinstance(answer, list):
        answer = {"entries": answer}
    return Document(answer, code)


def ran(
    command: List[str],
    positionals: Sequence[Optional[Text]],
    options: Mapping[str, Any],
    program: Sequence[Text],
    progress: Optional[Progress],
) -> Ran:
    """The output of a command. A program's own exit code is not an error."""
    output, messages, code = _run(_line(command, positionals, options, program), progress)
    if code and not program:
        raise _error(messages, code)
    return Ran(output, messages, code)


def _line(
    command: List[str], positionals: Sequence[Optional[Text]], options: Mapping[str, Any], program: Sequence[Text]
) -> List[str]:
    line = list(command)
    for name, value in options.items():
        if value is None or value is False:
            continue
        if value is True:
            line.append(f"--{name}")
        elif isinstance(value, (list, tuple)):
            line.extend(f"--{name}={_word(each)}" for each in value)
        else:
            line.append(f"--{name}={_word(value)}")
    words = [_word(each) for each in positionals if each is not None]
    # A path that begins with a dash is a path all the same.
    line.extend(f"./{word}" if word.startswith("-") and len(word) > 1 else word for word in words)
    if program:
        line.append("--")
        line.extend(_word(each) for each in program)
    return line


def _word(value: Text) -> str:
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _run(line: List[str], progress: Optional[Progress]) -> Tuple[str, str, int]:
    environment = {**os.environ, "NO_COLOR": "1"}
    process = subprocess.Popen(
        [find_command(), *line],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment,
        text=True,
        errors="replace",
        # A group, so that an interrupt reaches what the command started too.
        start_new_session=True,
    )
    messages: List[str] = []

    def listen() -> None:
        assert process.stderr is not None
        with process.stderr as lines:
            for said in lines:
                messages.append(said)
                if progress is not None:
                    progress(said.rstrip("\n"))

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    assert process.stdout is not None
    with process.stdout as answer:
        try:
            output = answer.read()
            code = process.wait()
        except BaseException:
            # Ctrl-C reaches this process alone.
            _end(process)
            raise
        finally:
            listener.join(_PATIENCE)
    return output, "".join(messages), code


def _end(process: "subprocess.Popen[str]") -> None:
    """Interrupts the command and what it started; ends what goes on all the same."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGINT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(_PATIENCE)
    # Whatever is left of the group.
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def _error(messages: str, code: int) -> RockhoundError:
    said: Dict[str, List[str]] = {"error: ": [], "hint: ": []}
    last: Optional[List[str]] = None
    for line in messages.splitlines():
        kind = next((kind for kind in said if line.startswith(kind)), None)
        if kind is not None:
            last = said[kind]
            last.append(line[len(kind) :])
        elif last is not None and line.startswith("  "):
            last[-1] += f"\n{line}"
        else:
            last = None
    message = "\n".join(said["error: "]) or messages.strip() or f"the command ended with exit code {code}"
    return RockhoundError(message, "\n".join(said["hint: "]) or None)
