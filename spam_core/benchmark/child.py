"""One fit in a process of its own: its memory is its own, and it can be ended.

`Children.measure` starts ``python -m spam_core.benchmark.child``, writes the job as a
line of JSON to it and reads a line of JSON back. The pipe stays open meanwhile: when
the parent is gone, however it ended, the child reads the pipe's end and goes too.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spam_core.training.config import Progress

_VARIABLES = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")


@dataclass(frozen=True)
class Job:
    """One fit to measure.

    Attributes
    ----------
    table : str
        Name of a data set.
    model : str
        In the registry.
    parameters : dict
    seed : int
        Of the split and of the model.
    threads : int
        Of torch and the like, and processes of an EBM.
    stop_after : int or None
        Epoch to stop training after, as a user might.
    spectrum : bool
        Whether to sum up the spectra of a SPAM.
    pairs : bool
        Whether to count the pairs of columns that a SPAM gives a weight.
    """

    table: str
    model: str
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    threads: int = 1
    stop_after: int | None = None
    spectrum: bool = False
    pairs: bool = False


class Children:
    """Runs jobs, each in a new process, and can end them all."""

    def __init__(self) -> None:
        self._running: set[subprocess.Popen[str]] = set()
        self.ended = False

    def measure(self, job: Job, limit: float) -> dict[str, Any]:
        """Fit and score in a new process.

        Parameters
        ----------
        job : Job
        limit : float
            Seconds that the process may take, loading the table included.

        Returns
        -------
        dict
            ``scores`` (metric -> number on the test rows), ``seconds`` of the fit,
            ``epochs`` (choosing the regularization included; 0 without any),
            ``pairs`` (see `pair_share`) and ``spectrum`` (see `spectra_of`) where they
            were asked for,
            ``memory_gb`` (peak of its largest process, interpreter and table
            included); or ``note``, a sentence that says why there is nothing, and
            ``failed`` if that was an accident and no refusal of the model.
        """
        environment = {**os.environ, **dict.fromkeys(_VARIABLES, str(job.threads))}
        child = subprocess.Popen(
            [sys.executable, "-m", "spam_core.benchmark.child"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=environment,
            start_new_session=True,  # so that it ends with the processes it started
        )
        assert child.stdin is not None
        assert child.stdout is not None
        self._running.add(child)
        if self.ended:  # in between
            _kill(child)
        try:
            with contextlib.suppress(BrokenPipeError):
                child.stdin.write(json.dumps(asdict(job)) + "\n")
                child.stdin.flush()
            child.wait(limit)
            found = child.stdout.read()  # short enough to have waited in the pipe
        except subprocess.TimeoutExpired:
            return {"note": f"over the limit of {limit:,.0f} seconds"}
        finally:
            _end(child)
            self._running.discard(child)
        if found:
            answer: dict[str, Any] = json.loads(found)
            return answer
        ending = _ending(child)
        return {
            "note": f"the process ended without an answer ({ending})",
            "failed": True,
        }

    def end(self) -> None:
        """End all that runs."""
        self.ended = True
        for child in list(self._running):
            _kill(child)


def _kill(child: subprocess.Popen[str]) -> None:
    """Kill a child with what it started; none of it has anything to lose."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child.pid, signal.SIGKILL)


def _end(child: subprocess.Popen[str]) -> None:
    """Leave nothing of a child: neither processes nor open pipes."""
    _kill(child)
    child.wait()
    for pipe in (child.stdin, child.stdout):
        if pipe is not None and not pipe.closed:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _ending(child: subprocess.Popen[str]) -> str:
    if child.returncode < 0:
        return signal.Signals(-child.returncode).name
    return f"exit status {child.returncode}"


# --- the child ------------------------------------------------------------------------


def run(job: Job) -> dict[str, Any]:
    """Fit and score here; see `Children.measure`."""
    try:
        from spam_core.benchmark.splits import load_split
        from spam_core.estimators.fitting import ModelSpec, build, fit, score
    except ImportError as error:  # half an installation, or code that is being edited
        return _failure(error)
    try:
        table = load_split(job.table, job.seed)
        known = build(ModelSpec(job.model), table).get_params(deep=False)
        own = {"random_state": job.seed, "n_jobs": job.threads}
        parameters = {
            **{name: value for name, value in own.items() if name in known},
            **job.parameters,
        }
        epochs = 0

        def tell(progress: Progress) -> bool:
            nonlocal epochs
            epochs = progress.epoch
            return epochs == job.stop_after

        model = fit(ModelSpec(job.model, parameters), table, tell)
        return {
            "scores": score(model, table),
            "seconds": model.training_seconds_,
            "epochs": epochs,
            "memory_gb": peak_memory(),  # before what needs some of its own
            **(_pairs(model) if job.pairs else {}),
            **(_spectrum(model) if job.spectrum else {}),
        }
    except (ValueError, TypeError, OSError, ImportError) as error:  # as users see them
        return {"note": " ".join(str(error).split()) or type(error).__name__}
    except Exception as error:
        return _failure(error)


def _pairs(model: Any) -> dict[str, Any]:
    from spam_core.models.sparsity import pair_share

    return {"pairs": pair_share(model.model_)}


def _spectrum(model: Any) -> dict[str, Any]:
    from spam_core.benchmark.spectrum import spectra_of

    return {"spectrum": spectra_of(model.model_)}


def _failure(error: Exception) -> dict[str, Any]:
    return {"note": f"failed with {type(error).__name__}: {error}", "failed": True}


def peak_memory() -> float:
    """Return the most memory that this process, or one it started, has held, in GB.

    Examples
    --------
    >>> 0.01 < peak_memory() < 1000
    True
    """
    import resource

    most = max(
        resource.getrusage(who).ru_maxrss
        for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    unit = 1 if sys.platform == "darwin" else 1024
    return most * unit / 1e9


def main() -> None:
    """Read a job, work, answer."""
    job = Job(**json.loads(sys.stdin.readline()))
    threading.Thread(target=_follow, daemon=True).start()
    out = sys.stdout
    with contextlib.redirect_stdout(sys.stderr):  # what libraries print is no answer
        found = run(job)
    out.write(json.dumps(found))
    out.flush()


def _follow() -> None:
    """End this process and those it started when the parent is gone."""
    os.read(0, 1)  # not sys.stdin: its lock would be held while Python shuts down
    os.killpg(os.getpgrp(), signal.SIGKILL)


if __name__ == "__main__":
    main()
