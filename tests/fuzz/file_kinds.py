"""The kinds of file that testsgd reads: seeds of each, and the commands that read it soonest."""

from __future__ import annotations

import contextlib
import importlib.util
import io
import json
import re
import shutil
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
EXAMPLES = ROOT / "examples"
sys.path += [str(HERE.parent / area) for area in ("cli", "models", "data")]


@dataclass(frozen=True)
class FileKind:
    """A kind of file, how it is damaged and what reads it.

    Attributes
    ----------
    name : str
    form : str
        How it is damaged, besides in its bytes: "json", "lines", "toml", "csv", "zip",
        "sqlite" or "binary".
    write : callable
        Writes the undamaged files into the first folder, and what the commands need besides into
        the second, the folder that they will work in.
    commands : tuple of tuple of str
        Each a way to read it; "FILE" stands for its name.
    codes : tuple of int
        Documented exit codes besides 0 and 2.
    file : str or None
        The name that it is given, if not that of the seed.
    on_input : str or None
        The file that is the standard input; "FILE" for the damaged one.
    keeps_what_was_right : bool
        Whether what came before a mistake is kept, as of a stream, though the exit code is 2.
    needs : tuple of str
        Packages without which the kind is left out.
    """

    name: str
    form: str
    write: Callable[[Path, Path], None]
    commands: tuple[tuple[str, ...], ...]
    codes: tuple[int, ...] = ()
    file: str | None = None
    on_input: str | None = None
    keeps_what_was_right: bool = False
    needs: tuple[str, ...] = ()

    def target(self, name: str) -> str:
        """Return the path of the damaged file in the working folder."""
        return self.file or name

    def given(self, name: str) -> str | None:
        """Return the path of the file that is the standard input."""
        return self.target(name) if self.on_input == "FILE" else self.on_input

    @property
    def lacks(self) -> list[str]:
        """List the packages that are not installed."""
        return [name for name in self.needs if importlib.util.find_spec(name) is None]


def _words(line: str) -> tuple[str, ...]:
    return tuple(line.split())


def _run(folder: Path, line: str, *, given: str = "") -> None:
    """Run testsgd in a folder, to make a file that it writes.

    In this process, as the cases need what it imports, too.
    """
    _run_words(folder, line.split(), given=given)


def _run_words(folder: Path, words: list[str], *, given: str = "") -> None:
    from testsgd.cli.main import run

    said = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(io.StringIO()),
        contextlib.redirect_stderr(said),
        mock.patch.object(sys, "stdin", io.TextIOWrapper(io.BytesIO(given.encode()))),
    ):
        try:
            run(words)
        except SystemExit as left:
            code = left.code
    if code not in (0, 1, 3):
        raise RuntimeError(said.getvalue())


def _first_lines(file: Path, count: int) -> str:
    return "".join(file.read_text(encoding="utf-8").splitlines(keepends=True)[:count])


# Results.

# Of each kind of result a small one, and no two alike.
RESULTS = (
    *(
        "bank",
        "imdb",
        "credit-mitigated",
        "tweets-mitigated",
        "bank-comparison",
        "credit-certified",
    ),
    *("census-frontier", "generative-poor-1", "generative-llm-before"),
)


def _results(seeds: Path, beside: Path) -> None:
    for name in RESULTS:
        shutil.copy(ROOT / "reports" / name / "result.json", seeds / f"{name}.json")
    _monitor_specifications(beside, beside)
    _monitor_events(beside, beside)
    _run(beside, "monitor run loans.toml --events events.csv --out monitor --format json")
    _shield_specifications(beside, beside)
    _run(beside, "shield synthesize bounded.toml --shield s.npz --out synthesis --format json")
    _run(beside, "shield simulate s.npz --runs 5 --out simulation --format json")
    for name in ("monitor", "synthesis", "simulation"):
        shutil.copy(beside / name / "result.json", seeds / f"{name}.json")
    shutil.rmtree(beside)
    beside.mkdir()


# Monitors.


def _monitor_specifications(seeds: Path, beside: Path) -> None:
    names = {
        "loans": "loans-demographic-parity",
        "admission": "admission-by-department",
        "recidivism": "recidivism-equalized-odds",
    }
    for name, example in names.items():
        shutil.copy(EXAMPLES / "monitors" / f"{example}.toml", seeds / f"{name}.toml")
    (beside / "events.jsonl").write_text(
        '{"id": 1, "group": "female", "decision": 1, "time": 1}\n'
        '{"id": 2, "group": "male", "decision": 0, "time": 2}\n'
        '{"id": 1, "label": 1, "time": 3}\n'
    )


def _monitor_events(seeds: Path, beside: Path) -> None:
    text = _first_lines(EXAMPLES / "monitors" / "loans-decisions.csv", 40)
    (seeds / "events.csv").write_text(text)
    shutil.copy(EXAMPLES / "monitors" / "loans-demographic-parity.toml", beside / "loans.toml")


def _monitor_lines(seeds: Path, beside: Path) -> None:
    events = [
        {
            "id": number,
            "group": ("female", "male")[number % 2],
            "decision": number % 3 == 0,
            "time": number,
        }
        for number in range(30)
    ]
    events += [{"id": number, "label": number % 2, "time": 30 + number} for number in range(20)]
    text = "".join(json.dumps(event) + "\n" for event in events)
    (seeds / "events.jsonl").write_text(text)
    _monitor_events(beside, beside)
    windows = '\n[[properties]]\nproperty = "equal_opportunity"\nbound = "1/3"\nrule = "evidence"\n'
    (beside / "labelled.toml").write_text((beside / "loans.toml").read_text() + windows)


def _monitor_states(seeds: Path, beside: Path) -> None:
    _monitor_lines(beside, beside)
    _run(beside, "monitor run labelled.toml --events events.jsonl --state state.json")
    shutil.move(beside / "state.json", seeds / "state.json")


# Shields.


def _shield_specifications(seeds: Path, beside: Path) -> None:
    for name, example in {
        "parity": "loans-demographic-parity",
        "bounded": "grants-bounded-welfare",
        "own": "refusals-own-property",
    }.items():
        text = (EXAMPLES / "shields" / f"{example}.toml").read_text()
        text = re.sub(r"(?m)^names = .*", 'names = ["female", "male"]', text)
        # Wide enough that even four decisions may be enough.
        text = re.sub(r"(?m)^bound = .*", "bound = 0.5", text)
        text = re.sub(r"(?m)^welfare = .*", "welfare = [0.2, 0.7]", text)
        (seeds / f"{name}.toml").write_text(text)


def _shields(seeds: Path, beside: Path) -> None:
    _shield_specifications(beside, beside)
    for name in ("parity", "bounded"):
        _run(beside, f"shield synthesize {name}.toml --length 6 --bound 1/2 --shield {name}.npz")
        shutil.move(beside / f"{name}.npz", seeds / f"{name}.npz")
    _shield_events(beside, beside)


def _shield_events(seeds: Path, beside: Path) -> None:
    events = [
        {
            "group": ("female", "male")[number % 2],
            "recommendation": int(number % 3 == 0),
            "cost": 1.0,
            "id": f"a-{number}",
        }
        for number in range(5)
    ]
    (seeds / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))


def _with_shield(beside: Path) -> None:
    _shield_specifications(beside, beside)
    _run(beside, "shield synthesize parity.toml --length 6 --bound 1/2 --shield shield.npz")


def _shield_inputs(seeds: Path, beside: Path) -> None:
    _with_shield(beside)
    _shield_events(seeds, beside)


def _shield_journals(seeds: Path, beside: Path) -> None:
    _with_shield(beside)
    _shield_events(beside, beside)
    given = (beside / "events.jsonl").read_text()
    _run(beside, "shield run shield.npz --journal journal.jsonl", given=given)
    shutil.move(beside / "journal.jsonl", seeds / "journal.jsonl")


def _shield_logs(seeds: Path, beside: Path) -> None:
    shutil.copy(EXAMPLES / "shields" / "screening-log.csv", seeds / "screening-log.csv")
    shutil.copy(EXAMPLES / "shields" / "screening-periods.toml", beside / "screening.toml")


# Generative models.


def _generative_specifications(seeds: Path, beside: Path) -> None:
    for name in ("people", "occupations"):
        shutil.copy(EXAMPLES / "generative" / f"{name}.toml", seeds / f"{name}.toml")
    (beside / "outputs.jsonl").write_text(
        _first_lines(EXAMPLES / "generative" / "outputs.jsonl", 30)
    )


def _outputs(seeds: Path, beside: Path) -> None:
    _generative_specifications(beside, seeds)
    rows = [json.loads(line) for line in (seeds / "outputs.jsonl").read_text().splitlines()]
    (seeds / "outputs.json").write_text(json.dumps(rows))


def _generative_states(seeds: Path, beside: Path) -> None:
    from testsgd.generative import Enforcer

    _generative_specifications(beside, beside)
    enforcer = Enforcer(beside / "people.toml", state=seeds / "state.sqlite", random_state=0)
    for text in ("She was an old nurse.", "He was a young nurse.", "There was a bus."):
        enforcer.finish(enforcer.begin("The nurse came in."), text)
    enforcer.begin("The nurse came in.")
    enforcer.close()


def _output_tables(seeds: Path, beside: Path) -> None:
    import pandas as pd

    _outputs(beside, beside)
    pd.read_json(beside / "outputs.json").to_csv(seeds / "outputs.csv", index=False)


# Tables of rows, and their descriptions.


def _people(rows: int = 60) -> Any:
    from testsgd.data import generate_demo

    return generate_demo(rows=rows, seed=0)


def _tables(seeds: Path, beside: Path) -> None:
    _people().to_csv(seeds / "people.csv", index=False)


def _line_tables(seeds: Path, beside: Path) -> None:
    _people().to_json(seeds / "people.jsonl", orient="records", lines=True)


def _binary_tables(seeds: Path, beside: Path) -> None:
    _people().to_parquet(seeds / "people.parquet")
    _people().to_feather(seeds / "people.feather")


def _descriptions(seeds: Path, beside: Path) -> None:
    _tables(beside, beside)
    shutil.copy(ROOT / "datasets" / "demo.toml", seeds / "demo.toml")
    (beside / "model.py").write_text(
        "def decide(frame):\n    return ['yes' if age > 40 else 'no' for age in frame['age']]\n"
    )


# Journals of a mitigation: those of a whole one, as nothing is done again then.

SAMPLES = (
    "mitigate demo --data people.csv --method samples --model loans:logistic --runs 1 --steps 1 "
    "--samples counter --compare none --max-accuracy-drop 5 --jobs 1 --format json --quiet "
    "--out out --model-out model"
)
PLAY = (
    "mitigate people.csv --model loans:logistic --sensitive gender --label granted --method play "
    "--jobs 1 --format json --quiet --out out --model-out model"
)


def _loans(beside: Path) -> None:
    import refittable_models

    _people(300).to_csv(beside / "people.csv", index=False)
    (beside / "loans.py").write_text(refittable_models.MODULE)


def _journal_of(seeds: Path, beside: Path, command: str) -> None:
    _loans(beside)
    with mock.patch.object(Path, "unlink", return_value=None):
        _run_words(beside, command.split())
    # Each of the folders that follow has a module of its own.
    del sys.modules["loans"]
    shutil.move(beside / "out" / "journal.json", seeds / "journal.json")
    shutil.rmtree(beside / "out")
    shutil.rmtree(beside / "model", ignore_errors=True)


def _sample_journals(seeds: Path, beside: Path) -> None:
    _journal_of(seeds, beside, SAMPLES)


def _play_journals(seeds: Path, beside: Path) -> None:
    from testsgd.mitigation.frontiers import playing

    # Few refits: a journal is written of each strength, however long that is played with. The
    # cases, which run in children of this process, go on with as few.
    playing._ROUNDS, playing._FOLDS = 2, 2
    _journal_of(seeds, beside, PLAY)


# Texts, and their descriptions and terms.


def _texts(seeds: Path, beside: Path) -> None:
    words = ("An old woman", "A young man", "Girls", "The bus, he said", "An islander")
    lines = [
        f'"{words[number % 5]} was {number}, and {"stupid" if number % 3 else "late"}"'
        for number in range(40)
    ]
    (seeds / "comments.csv").write_text("comment\n" + "\n".join(lines) + "\n")
    for name in ("comments.toml", "comment_terms.toml", "comment_filter.py"):
        shutil.copy(EXAMPLES / name, beside / name)


def _text_descriptions(seeds: Path, beside: Path) -> None:
    _texts(beside, beside)
    shutil.move(beside / "comments.toml", seeds / "comments.toml")


def _text_terms(seeds: Path, beside: Path) -> None:
    _texts(beside, beside)
    shutil.move(beside / "comment_terms.toml", seeds / "comment_terms.toml")


def _text_archives(seeds: Path, beside: Path) -> None:
    from plain_texts import REVIEWS, pack

    _texts(beside, beside)
    (beside / "reviews.toml").write_text('terms = "comment_terms.toml"\n' + REVIEWS)
    members: dict[str, str | bytes | None] = {
        f"set/{part}/{opinion}/{number}_1.txt": f"A young woman, an old man saw it {number} times"
        for part in ("train", "test")
        for opinion in ("neg", "pos")
        for number in range(10)
    }
    pack(seeds / "reviews.tar.gz", members)
    pack(seeds / "reviews.tar", members, "w")


# Networks and their domains.


def _nnet(seeds: Path, beside: Path) -> None:
    import certifiable_networks

    shutil.move(certifiable_networks.write_lender(beside), seeds / "lender.nnet")


def _domains(seeds: Path, beside: Path) -> None:
    import certifiable_networks

    certifiable_networks.write_lender(beside)
    shutil.move(beside / "ranges.toml", seeds / "ranges.toml")


def _checkpoints(seeds: Path, beside: Path) -> None:
    import certifiable_networks

    certifiable_networks.write_lender(beside)
    _run(
        beside,
        "certify lender.nnet --domain ranges.toml --checkpoint c.npz --jobs 1 --undecided 0.3",
    )
    shutil.move(beside / "c.npz", seeds / "c.npz")


def _keras(seeds: Path, beside: Path) -> None:
    shutil.copy(ROOT / "models" / "compas" / "model.keras", seeds / "model.keras")
    for name in ("card.json", "preprocessing.json"):
        shutil.copy(ROOT / "models" / "compas" / name, beside / name)


def _beside_keras(seeds: Path, beside: Path) -> None:
    _keras(beside, seeds)
    for name in ("card.json", "preprocessing.json"):
        shutil.copy(seeds / name, beside / name)


def _h5(seeds: Path, beside: Path) -> None:
    import h5py
    import numpy as np

    (beside / "ranges.toml").write_text(_ranges())
    layers = [
        {
            "class_name": "Dense",
            "config": {
                "name": "a",
                "units": 2,
                "activation": "relu",
                "batch_input_shape": [None, 3],
            },
        },
        {"class_name": "Dense", "config": {"name": "b", "units": 1, "activation": "sigmoid"}},
    ]
    with h5py.File(seeds / "model.h5", "w") as file:
        described = {"class_name": "Sequential", "config": {"name": "lender", "layers": layers}}
        file.attrs["model_config"] = json.dumps(described)
        file.attrs["keras_version"] = "2.9.0"
        file.attrs["backend"] = "tensorflow"
        weights = file.create_group("model_weights")
        weights.attrs["layer_names"] = [b"a", b"b"]
        for name, shape in (("a", (3, 2)), ("b", (2, 1))):
            group = weights.create_group(name)
            group.attrs["weight_names"] = [f"{name}/kernel:0".encode(), f"{name}/bias:0".encode()]
            group[f"{name}/kernel:0"] = np.ones(shape, dtype=np.float32)
            group[f"{name}/bias:0"] = np.zeros(shape[1], dtype=np.float32)


def _ranges() -> str:
    import certifiable_networks

    return certifiable_networks.RANGES


def _onnx(seeds: Path, beside: Path) -> None:
    import numpy as np
    from onnx import helper, numpy_helper, save

    (beside / "ranges.toml").write_text(_ranges())
    constants = {
        "w": np.ones((3, 2), dtype=np.float32),
        "b": np.ones(2, dtype=np.float32),
        "v": np.ones((2, 1), dtype=np.float32),
    }
    nodes = [
        helper.make_node("MatMul", ["people", "w"], ["c"]),
        helper.make_node("Add", ["c", "b"], ["d"]),
        helper.make_node("Relu", ["d"], ["e"]),
        helper.make_node("MatMul", ["e", "v"], ["f"]),
        helper.make_node("Sigmoid", ["f"], ["score"]),
    ]
    graph = helper.make_graph(
        nodes,
        "lender",
        [helper.make_tensor_value_info("people", 1, [None, 3])],
        [helper.make_tensor_value_info("score", 1, [None, 1])],
        [numpy_helper.from_array(array, name) for name, array in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save(model, seeds / "model.onnx")


def _skops(seeds: Path, beside: Path) -> None:
    import numpy as np
    from sklearn.linear_model import LogisticRegression
    from sklearn.neural_network import MLPClassifier

    from testsgd.models.skops_files import write_skops

    (beside / "ranges.toml").write_text(_ranges())
    people = np.random.default_rng(0).integers(0, 2, (60, 3)).astype(float)
    answers = np.arange(60) % 2
    write_skops(LogisticRegression().fit(people, answers), seeds / "linear.skops")
    network = MLPClassifier((3,), solver="lbfgs", max_iter=500, random_state=0)
    write_skops(network.fit(people, answers), seeds / "network.skops")


def _boosters(seeds: Path, beside: Path) -> None:
    import booster_models

    booster_models.xgboost_file(seeds, ".json")
    _booster_rows(beside)


def _lightgbm(seeds: Path, beside: Path) -> None:
    import booster_models

    booster_models.lightgbm_file(seeds)
    _booster_rows(beside)


def _catboost(seeds: Path, beside: Path) -> None:
    import booster_models

    booster_models.catboost_file(seeds)
    _booster_rows(beside)


def _booster_rows(beside: Path) -> None:
    import booster_models

    rows, granted = booster_models.people()
    rows.assign(granted=granted).head(60).to_csv(beside / "people.csv", index=False)
    (beside / "people.toml").write_text(BOOSTER_ROWS)


BOOSTER_ROWS = """
[dataset]
name = "people"

[label]
column = "granted"
favourable = "yes"
values = ["no", "yes"]
map = { 0 = "no", 1 = "yes" }

[features]
woman = { type = "integer", range = [0, 1], sensitive = true }
age = { type = "decimal", range = [18, 80] }
income = { type = "decimal", range = [0, 100] }
"""

AUDIT = "--replicates 99 --stability 0 --jobs 1 --out out --quiet"
CERTIFY = "--time-limit 2 --jobs 1 --out out --quiet"

KINDS = {
    kind.name: kind
    for kind in (
        FileKind(
            name="result",
            form="json",
            write=_results,
            commands=(_words("report FILE --out out --quiet"),),
            codes=(1, 3),
        ),
        FileKind(
            name="monitor-specification",
            form="toml",
            write=_monitor_specifications,
            commands=(_words("monitor run FILE --events events.jsonl --out out --quiet"),),
            codes=(1, 3),
            keeps_what_was_right=True,
        ),
        FileKind(
            name="monitor-table",
            form="csv",
            write=_monitor_events,
            commands=(
                _words("monitor run loans.toml --events FILE --state state --out out --quiet"),
            ),
            codes=(1, 3),
            keeps_what_was_right=True,
        ),
        FileKind(
            name="monitor-events",
            form="lines",
            write=_monitor_lines,
            commands=(
                _words("monitor run loans.toml --events FILE --state state --quiet"),
                _words("monitor run labelled.toml --events FILE --out out --quiet"),
            ),
            codes=(1, 3),
            keeps_what_was_right=True,
        ),
        FileKind(
            name="monitor-state",
            form="json",
            write=_monitor_states,
            commands=(_words("monitor run labelled.toml --state FILE --out out --quiet"),),
            codes=(1, 3),
            on_input="events.jsonl",
        ),
        FileKind(
            name="shield-specification",
            form="toml",
            write=_shield_specifications,
            commands=(
                _words("shield synthesize FILE --length 6 --shield s.npz --jobs 1 --quiet"),
                _words("shield simulate FILE --length 4 --runs 3 --jobs 1 --out out --quiet"),
            ),
            codes=(1,),
        ),
        FileKind(
            name="shield",
            form="zip",
            write=_shields,
            commands=(
                _words("shield run FILE --jobs 1"),
                _words("shield simulate FILE --runs 3 --out out --jobs 1 --quiet"),
            ),
            codes=(1,),
            on_input="events.jsonl",
        ),
        FileKind(
            name="shield-events",
            form="lines",
            write=_shield_inputs,
            commands=(_words("shield run shield.npz --journal journal --jobs 1"),),
            on_input="FILE",
            keeps_what_was_right=True,
        ),
        FileKind(
            name="shield-journal",
            form="lines",
            write=_shield_journals,
            commands=(_words("shield run shield.npz --journal FILE --jobs 1"),),
        ),
        FileKind(
            name="shield-log",
            form="csv",
            write=_shield_logs,
            commands=(
                # Threads that worked before a fork are not there after it.
                _words(
                    "shield simulate screening.toml --log FILE --length 4 --runs 3 "
                    "--jobs 1 --out out"
                ),
                _words("shield synthesize screening.toml --length 4 --shield s.npz --jobs 1"),
            ),
            codes=(1,),
        ),
        FileKind(
            name="generative-specification",
            form="toml",
            write=_generative_specifications,
            commands=(_words("generative assess outputs.jsonl --spec FILE --out out --quiet"),),
            codes=(1, 3),
        ),
        FileKind(
            name="generative-outputs",
            form="lines",
            write=_outputs,
            commands=(_words("generative assess FILE --spec people.toml --out out --quiet"),),
            codes=(1, 3),
        ),
        FileKind(
            name="generative-table",
            form="csv",
            write=_output_tables,
            commands=(_words("generative assess FILE --spec people.toml --out out --quiet"),),
            codes=(1, 3),
        ),
        FileKind(
            name="table",
            form="csv",
            write=_tables,
            commands=(
                _words("init FILE"),
                _words(f"audit FILE --predictions granted --sensitive gender {AUDIT}"),
                _words(f"audit demo --data FILE {AUDIT}"),
            ),
            codes=(3,),
        ),
        FileKind(
            name="table-lines",
            form="lines",
            write=_line_tables,
            commands=(
                _words("init FILE"),
                _words(f"audit FILE --predictions granted --sensitive gender {AUDIT}"),
            ),
            codes=(3,),
        ),
        FileKind(
            name="table-parquet",
            form="binary",
            write=_binary_tables,
            commands=(_words(f"audit FILE --predictions granted --sensitive gender {AUDIT}"),),
            codes=(3,),
            needs=("pyarrow",),
        ),
        FileKind(
            name="description",
            form="toml",
            write=_descriptions,
            commands=(
                _words("cells-sql FILE"),
                _words(f"audit FILE --data people.csv --model model:decide {AUDIT}"),
            ),
            codes=(3,),
        ),
        FileKind(
            name="text-table",
            form="csv",
            write=_texts,
            commands=(
                _words(f"audit comments.toml --data FILE --model comment_filter:score {AUDIT}"),
            ),
            codes=(3,),
        ),
        FileKind(
            name="text-description",
            form="toml",
            write=_text_descriptions,
            commands=(
                _words(f"audit FILE --data comments.csv --model comment_filter:score {AUDIT}"),
            ),
            codes=(3,),
        ),
        FileKind(
            name="text-terms",
            form="toml",
            write=_text_terms,
            commands=(
                _words(
                    f"audit comments.toml --data comments.csv --model comment_filter:score {AUDIT}"
                ),
            ),
            codes=(3,),
        ),
        FileKind(
            name="text-archive",
            form="binary",
            write=_text_archives,
            commands=(
                _words(f"audit reviews.toml --data FILE --model comment_filter:score {AUDIT}"),
            ),
            codes=(3,),
        ),
        FileKind(
            name="network-nnet",
            form="csv",
            write=_nnet,
            commands=(_words(f"certify FILE --domain ranges.toml {CERTIFY}"),),
            codes=(3,),
        ),
        FileKind(
            name="network-keras",
            form="zip",
            write=_keras,
            commands=(_words(f"certify FILE --domain compas --protected race {CERTIFY}"),),
            codes=(3,),
            needs=("h5py",),
        ),
        FileKind(
            name="network-h5",
            form="binary",
            write=_h5,
            commands=(_words(f"certify FILE --domain ranges.toml {CERTIFY}"),),
            codes=(3,),
            needs=("h5py",),
        ),
        FileKind(
            name="network-onnx",
            form="binary",
            write=_onnx,
            commands=(_words(f"certify FILE --domain ranges.toml {CERTIFY}"),),
            codes=(3,),
            needs=("onnx",),
        ),
        FileKind(
            name="network-skops",
            form="zip",
            write=_skops,
            commands=(_words(f"certify FILE --domain ranges.toml {CERTIFY}"),),
            codes=(3,),
            needs=("skops",),
        ),
        FileKind(
            name="network-card",
            form="json",
            write=_beside_keras,
            # The search would take all the time that it is given, and reads nothing any more.
            commands=(
                _words(
                    "certify model.keras --domain compas --protected race "
                    "--time-limit 0.1 --jobs 1 --out out --quiet"
                ),
            ),
            codes=(3,),
        ),
        FileKind(
            name="domain",
            form="toml",
            write=_domains,
            commands=(_words(f"certify lender.nnet --domain FILE {CERTIFY}"),),
            codes=(3,),
        ),
        FileKind(
            name="checkpoint",
            form="zip",
            write=_checkpoints,
            commands=(
                _words(
                    "certify lender.nnet --domain ranges.toml --checkpoint FILE --resume "
                    f"--undecided 0.3 {CERTIFY}"
                ),
            ),
            codes=(3,),
        ),
        FileKind(
            name="booster",
            form="json",
            write=_boosters,
            commands=(_words(f"audit people.toml --data people.csv --model FILE {AUDIT}"),),
            codes=(3,),
            needs=("xgboost",),
        ),
        FileKind(
            name="booster-lightgbm",
            # Its lines are keys and values, too.
            form="toml",
            write=_lightgbm,
            commands=(_words(f"audit people.toml --data people.csv --model FILE {AUDIT}"),),
            codes=(3,),
            needs=("lightgbm",),
        ),
        FileKind(
            name="booster-catboost",
            form="binary",
            write=_catboost,
            commands=(_words(f"audit people.toml --data people.csv --model FILE {AUDIT}"),),
            codes=(3,),
            needs=("catboost",),
        ),
        FileKind(
            name="generative-state",
            form="sqlite",
            write=_generative_states,
            commands=(_words("generative journal --spec people.toml --state FILE"),),
        ),
        FileKind(
            name="mitigation-samples",
            form="json",
            write=_sample_journals,
            commands=(_words(f"{SAMPLES} --resume"),),
            codes=(1, 3),
            file="out/journal.json",
            needs=("skops",),
        ),
        FileKind(
            name="mitigation-play",
            form="json",
            write=_play_journals,
            commands=(_words(f"{PLAY} --resume"),),
            codes=(1, 3),
            file="out/journal.json",
            needs=("skops",),
        ),
    )
}
