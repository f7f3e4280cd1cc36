"""A classifier of labelled graphs in the style of scikit-learn, which triad's program `graphs` trains."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Iterable, Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import numpy as np

from ._graphs import members, plain
from .runs import Run, load

# Options of the program that say where a run comes from and goes to, or make more than one run.
_options_of_fit = ("data", "out", "config", "resume", "seeds")


class GraphClassifier:
    """Answers a question about two nodes of a labelled graph.  The program `graphs` trains it, and the module
    EdgeTransformer predicts.

    program   the path of the program, or its name if it is on the search path; docs/quickstart.md says how to build it.
    folder    a new folder for the run, which load() can load again; None: a temporary folder, deleted after training.
    options   options of `graphs train`, such as epochs=30, learning_rate=0.001, tied=False or preset="quick".

    A graph is a line of the program's data, as a dict: {"nodes": 3, "edges": [(0, "left", 1), (1, "above", 2)],
    "query": (0, 2)}.  nodes is a number or a list of the nodes' labels.  Other members are ignored.

    After fit(), run_ is the Run, and classes_ has the answers, an array of str in the order of predict_proba().
    get_params and set_params are those of scikit-learn, so that its tools, such as cross_val_score, take this class.
    """

    def __init__(self, program: str | os.PathLike = "graphs", folder: str | os.PathLike | None = None,
                 **options: Any) -> None:
        self.program, self.folder, self.options = program, folder, options

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Returns the arguments with which the classifier was made."""
        return {"program": self.program, "folder": self.folder, **self.options}

    def set_params(self, **params: Any) -> GraphClassifier:
        """Changes arguments, and returns the classifier."""
        for name, value in params.items():
            if name in ("program", "folder"):
                setattr(self, name, value)
            else:
                self.options[name] = value
        return self

    def __sklearn_tags__(self) -> Any:
        from sklearn.utils import ClassifierTags, Tags, TargetTags
        return Tags(estimator_type="classifier", target_tags=TargetTags(required=True),
                    classifier_tags=ClassifierTags(), no_validation=True)

    def fit(self, graphs: Iterable[Mapping[str, Any]], targets: Iterable[str]) -> GraphClassifier:
        """Trains a new model on graphs and their answers, and returns the classifier.

        Warns with the program's last line if fewer than half of the held-out graphs are answered correctly.  Raises a
        ValueError with the program's message if it refuses graphs or options, and a FileNotFoundError if there is no
        such program."""
        program = shutil.which(os.fspath(self.program))
        if program is None:
            raise FileNotFoundError(f"program: {os.fspath(self.program)!r} is not there, expected triad's program "
                                    "graphs; build it as docs/quickstart.md says, and pass its path")
        self._expect_options()
        graphs, targets = list(graphs), [str(target) for target in targets]
        if len(graphs) != len(targets) or not graphs:
            raise ValueError(f"targets: {len(targets)} for {len(graphs)} graphs, expected one for each, and 1 or more; "
                             "pass lists of the same length")
        with tempfile.TemporaryDirectory() as made:
            out = Path(made) / "run" if self.folder is None else Path(self.folder)
            if (out / "model.safetensors").exists():
                raise ValueError(f"folder: {out} has a run, expected a new folder; load the run by triad_torch.load, "
                                 "or name another folder")
            lines = [json.dumps({**members(graph), "target": target}) for graph, target in zip(graphs, targets)]
            (Path(made) / "train.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
            settings = [f"{name.replace('_', '-')} = {json.dumps(plain(value))}\n"
                        for name, value in self.options.items()]
            (Path(made) / "config.toml").write_text("".join(settings), encoding="utf-8")
            train = [program, "train", "--config", str(Path(made) / "config.toml"), "--data", made, "--out", str(out)]
            done = subprocess.run(train, capture_output=True, text=True)
            if done.returncode == 3:
                warnings.warn(f"{program}: {_last_line(done.stdout)}", stacklevel=2)
            elif done.returncode != 0:
                raise ValueError(f"{program}: status {done.returncode}, expected 0: {_last_line(done.stderr)}")
            run = load(out)
            if not isinstance(run, Run):
                raise ValueError(f"program: {program}, expected the program graphs; it wrote a {type(run).__name__}")
            self.run_ = run
        self.classes_ = np.array(self.run_.targets)
        return self

    def _expect_options(self) -> None:
        for name, value in self.options.items():
            if name.replace("-", "_") in _options_of_fit:
                raise ValueError(f"{name}: {value!r}, expected no such option, because fit() makes one new run in a "
                                 "folder of its own; make several classifiers, or call the program")
            value = plain(value)
            if not isinstance(value, (str, bool, int, float)) or (isinstance(value, float) and not isfinite(value)):
                raise ValueError(f"{name}: {value!r}, expected a finite number, a text, or True or False; pass the "
                                 "value that the program takes")

    def predict_proba(self, graphs: Iterable[Mapping[str, Any]]) -> np.ndarray:
        """Returns the probability of each answer for each graph, float32 (graphs, answers)."""
        return self._fitted().probabilities(graphs).cpu().numpy()

    def predict(self, graphs: Iterable[Mapping[str, Any]]) -> np.ndarray:
        """Returns the likeliest answer for each graph, an array of str."""
        likeliest = self.predict_proba(graphs).argmax(-1)
        return self.classes_[likeliest]

    def score(self, graphs: Iterable[Mapping[str, Any]], targets: Iterable[str]) -> float:
        """Returns the part of the graphs whose likeliest answer is the target."""
        return float((self.predict(graphs) == np.array([str(target) for target in targets])).mean())

    def _fitted(self) -> Run:
        if not hasattr(self, "run_"):
            raise ValueError("run_: missing, expected a trained classifier; call fit first")
        return self.run_


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else "no message"
