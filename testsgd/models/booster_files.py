"""Models in files of other libraries: XGBoost, LightGBM, CatBoost, and ONNX by its runtime.

Each reader gives an object with ``predict``, which says labels, and the names of its columns where
the file has them. A model of two classes says 0 and 1: what these stand for, the description, or
the labels that are given, say. A regression says numbers, which are compared by metrics.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.errors import MissingExtraError, ModelError
from testsgd.io import check_by_trial, loads_json, memory_limit, read_bytes, why_no_file
from testsgd.models.blackbox import CountedColumns, check_number_columns, is_booster
from testsgd.models.booster_trees import check_xgboost_document
from testsgd.models.file_models import ClassProbabilities, FileModel, NumbersModel
from testsgd.models.lightgbm_trees import check_lightgbm_text, lightgbm_objective
from testsgd.models.onnx_probabilities import (
    ONNX_FLOATS,
    ONNX_PROBABILITIES,
    OnnxProbabilities,
    of_each_class,
)

# By the library itself, as the package for Python takes a second to import.
_XGBOOST_TRIAL = """
import ctypes
library = ctypes.CDLL(sys.argv[1])
model, size, text = ctypes.c_void_p(), ctypes.c_uint64(), ctypes.c_char_p()
failed = library.XGBoosterCreate(None, ctypes.c_uint64(0), ctypes.byref(model))
failed = failed or library.XGBoosterLoadModel(model, sys.argv[2].encode())
if not failed:
    found = ctypes.byref(size), ctypes.byref(text)
    library.XGBoosterSaveModelToBuffer(model, b'{"format": "json"}', *found)
    library.XGBoosterSaveJsonConfig(model, *found)
"""
# The libraries print what they find wrong with a file; the output is not shown.
_LIGHTGBM_TRIAL = """
import ctypes, os
# Threads that wait for each other would use up the time of the processor.
os.environ["OMP_NUM_THREADS"] = "1"
library = ctypes.CDLL(sys.argv[1])
model, rounds, size = ctypes.c_void_p(), ctypes.c_int(), ctypes.c_int64()
made = ctypes.byref(rounds), ctypes.byref(model)
if library.LGBM_BoosterCreateFromModelfile(sys.argv[2].encode(), *made):
    raise SystemExit(1)
said = ctypes.create_string_buffer(1)
found = ctypes.c_int64(1), ctypes.byref(size), said
library.LGBM_BoosterDumpModel(model, 0, 1, 0, *found)
library.LGBM_BoosterGetLoadedParam(model, *found)
# Its answers to a few rows are not used; only that it returns matters.
width = ctypes.c_int()
library.LGBM_BoosterGetNumFeature(model, ctypes.byref(width))
every = ctypes.c_int(0), ctypes.c_int(0), ctypes.c_int(-1)
values = [value for value in (0, -1, 1, 1e9, float("nan")) for _ in range(width.value)]
rows = (ctypes.c_double * len(values))(*values)
library.LGBM_BoosterCalcNumPredict(model, ctypes.c_int(5), *every, ctypes.byref(size))
answers = (ctypes.c_double * size.value)()
shape = ctypes.c_int(1), ctypes.c_int32(5), ctypes.c_int32(width.value), ctypes.c_int(1)
given = ctypes.c_char_p(b"num_threads=1")
library.LGBM_BoosterPredictForMat(
    model, rows, *shape, *every, given, ctypes.byref(size), answers
)
"""
# CatBoost imports IPython where it is there, to draw, and does without where it is not.
_CATBOOST_TRIAL = """
sys.modules["IPython"] = None
import catboost
model = catboost.CatBoostClassifier().load_model(sys.argv[1])
if not len(model.classes_):
    model = catboost.CatBoostRegressor().load_model(sys.argv[1])
if not model.get_cat_feature_indices():
    width = len(model.feature_names_)
    model.predict([[value] * width for value in (0, -1, 1e9, float("nan"))])
"""

# The beginnings of the objectives of LightGBM that are of numbers.
_LIGHTGBM_NUMBERS = (
    *("regression", "huber", "fair", "poisson", "quantile", "mape", "gamma", "tweedie"),
    *("cross_entropy", "lambdarank", "rank_xendcg"),
)


def read_xgboost(path: Path) -> FileModel | NumbersModel:
    """Read a model that XGBoost saved as ``.json`` or ``.ubj``.

    Raises
    ------
    ModelError
        If the file cannot be read.
    MissingExtraError
        If xgboost is not installed.
    """
    try:
        import xgboost
    except ImportError as error:
        raise _missing("xgboost", path) from error

    def read() -> Any:
        check_by_trial(_XGBOOST_TRIAL, [*xgboost.libpath.find_lib_path()[:1], str(path)])
        booster = xgboost.Booster()
        booster.load_model(path)
        try:
            check_xgboost_document(loads_json(bytes(booster.save_raw("json"))))
        except (LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"a part is missing or of another kind: {error}") from error
        return booster

    return xgboost_model(_read(read, path), path)


def _category_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return the numbers that a column's categories are, such as the codes 0 and 1 of a sex."""
    try:
        numbers = pd.to_numeric(pd.Series(column.cat.categories)).tolist()
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"column {column.name!r} has categories, and the model takes numbers"
        ) from error
    return column.cat.rename_categories(numbers).astype(np.float64)


def _counted_rounds(booster: Any) -> tuple[int, int]:
    """Return which boosting rounds count, from the first to before the last; (0, 0) for all.

    After early stopping XGBoost's classifiers and regressors predict by the rounds up to the best
    one, and a ``Booster`` by all. The file of either says what wrote it.
    """
    best = booster.attr("best_iteration")
    if best is None or booster.attr("scikit_learn") is None:
        return 0, 0
    if loads_json(booster.save_config())["learner"]["gradient_booster"]["name"] == "gblinear":
        return 0, 0
    return 0, int(best) + 1


def xgboost_model(booster: Any, path: Path = Path("Booster")) -> FileModel | NumbersModel:
    """Return a booster of XGBoost as a model of data frames; `path` is named in errors."""
    import xgboost

    learner = loads_json(booster.save_config())["learner"]
    objective = learner["objective"]["name"]
    classes = np.arange(max(2, int(learner["learner_model_param"]["num_class"])))
    trees = _counted_rounds(booster)

    typed = list(zip(booster.feature_names or (), booster.feature_types or (), strict=False))
    numbers = {name for name, kind in typed if kind != "c"}
    # Before 3.1 a file does not say which category is which, so texts would be anything.
    named = hasattr(booster, "get_categories")
    categories = {name for name, kind in typed if kind == "c" and named}

    def rows_of(frame: pd.DataFrame) -> Any:
        # XGBoost would take the codes of categories for the numbers.
        coded = [
            name
            for name, dtype in frame.dtypes.items()
            if name in numbers and isinstance(dtype, pd.CategoricalDtype)
        ]
        frame = frame.assign(**{str(name): _category_numbers(frame[name]) for name in coded})
        frame = _booleans_as_numbers(_with_categories(frame, categories), numbers)
        return xgboost.DMatrix(frame, enable_categorical=True)

    def answer(frame: pd.DataFrame) -> Any:
        answers = booster.predict(rows_of(frame), iteration_range=trees)
        # multi:softmax gives classes, as floats.
        return answers.astype(np.int64) if objective == "multi:softmax" else answers

    def class_probabilities(frame: pd.DataFrame) -> ClassProbabilities:
        if objective != "multi:softmax":
            return classes, of_each_class(booster.predict(rows_of(frame), iteration_range=trees))
        sums = booster.predict(rows_of(frame), output_margin=True, iteration_range=trees)
        powers = np.exp(sums - sums.max(axis=1, keepdims=True))
        return classes, powers / powers.sum(axis=1, keepdims=True)

    if objective.startswith(("binary:", "multi:")):
        has_some = objective in ("binary:logistic", "multi:softprob", "multi:softmax")
        return FileModel(
            answer,
            columns=booster.feature_names,
            classes=classes,
            class_probabilities=class_probabilities if has_some else None,
        )
    return NumbersModel(answer, columns=booster.feature_names, path=path)


def read_lightgbm(path: Path) -> FileModel | NumbersModel:
    """Read a model that LightGBM saved as text.

    Raises
    ------
    ModelError
        If the file cannot be read, or its objective is unknown.
    MissingExtraError
        If lightgbm is not installed.
    """
    try:
        import lightgbm
    except ImportError as error:
        raise _missing("lightgbm", path) from error

    def read() -> Any:
        content = read_bytes(path, at_most=memory_limit())
        check_lightgbm_text(content)
        basic: Any = lightgbm.basic
        # A megabyte takes much less than a second, of the processor as on a busy machine.
        more = len(content) / 1e6
        if check_by_trial(
            _LIGHTGBM_TRIAL,
            [basic._LIB._name, str(path)],
            seconds=30 + more,
            processor_seconds=5 + more,
        ):
            raise ValueError("LightGBM refuses it")
        return lightgbm.Booster(model_file=str(path)), lightgbm_objective(content)

    booster, objective = _read(read, path)
    return _lightgbm_model(booster, objective, path)


def lightgbm_model(booster: Any) -> FileModel | NumbersModel:
    """Return a booster of LightGBM as a model of data frames, which takes its columns by name.

    Raises
    ------
    ModelError
        If its objective is unknown.
    """
    text = booster.model_to_string(num_iteration=1)
    return _lightgbm_model(booster, lightgbm_objective(text.encode()), Path("Booster"))


def _lightgbm_model(booster: Any, objective: str, path: Path) -> FileModel | NumbersModel:
    """Return a booster of an objective as a model; `path` is named in errors."""
    names = booster.feature_name()
    made_up = all(name == f"Column_{place}" for place, name in enumerate(names))
    columns = None if made_up else names
    # Which of its columns are categories it does not say.
    numbers = [] if booster.pandas_categorical else names

    def answer(frame: pd.DataFrame) -> Any:
        # Its own names have no blanks.
        asked = frame if columns is None else frame.set_axis(names, axis=1)
        asked = _booleans_as_numbers(asked, numbers)
        return booster.predict(_with_categories(asked, names))

    if objective.startswith(("binary", "multiclass")):
        classes = np.arange(max(2, booster.num_model_per_iteration()))
        return FileModel(
            answer,
            columns=columns,
            classes=classes,
            class_probabilities=lambda frame: (classes, of_each_class(answer(frame))),
        )
    if objective.startswith(_LIGHTGBM_NUMBERS):
        return NumbersModel(answer, columns=columns, path=path)
    raise ModelError(
        f"the model is trained for {objective or 'something unknown'!r}, and says no classes",
        where=f"model {str(path)!r}",
        remedy="give a classifier or a regression, or a function that turns its numbers into "
        "labels",
    )


def read_catboost(path: Path) -> FileModel | NumbersModel:
    """Read a model that CatBoost saved as ``.cbm``.

    Raises
    ------
    ModelError
        If the file cannot be read.
    MissingExtraError
        If catboost is not installed.
    """
    try:
        import catboost
    except ImportError as error:
        raise _missing("catboost", path) from error

    def read() -> Any:
        if check_by_trial(_CATBOOST_TRIAL, [str(path)], processor_seconds=30):
            raise ValueError("CatBoost refuses it")
        classifier = catboost.CatBoostClassifier().load_model(str(path))
        if len(classifier.classes_):
            return classifier
        return catboost.CatBoostRegressor().load_model(str(path))

    return _catboost_model(_read(read, path), path)


def catboost_model(model: Any) -> FileModel | NumbersModel:
    """Return a ``catboost.CatBoost`` as a model of data frames, read as its file is.

    Its own ``predict`` gives sums before the sigmoid, where it is trained to tell classes apart.
    """
    import catboost

    is_classifier = len(model.classes_) > 0
    turned = catboost.to_classifier(model) if is_classifier else catboost.to_regressor(model)
    return _catboost_model(turned, Path("CatBoost"))


def _catboost_model(model: Any, path: Path) -> FileModel | NumbersModel:
    """Return a classifier or a regression of CatBoost as a model; `path` is named in errors."""
    names = list(model.feature_names_)
    made_up = all(name == str(place) for place, name in enumerate(names))
    columns = None if made_up else names

    def counted(function: Callable[[pd.DataFrame], Any]) -> Callable[[pd.DataFrame], Any]:
        return CountedColumns(function, len(names)) if made_up else function

    if not len(getattr(model, "classes_", ())):
        return NumbersModel(counted(model.predict), columns=columns, path=path)
    probabilities = counted(model.predict_proba)
    return FileModel(
        counted(model.predict),
        columns=columns,
        classes=model.classes_,
        class_probabilities=lambda frame: (model.classes_, np.asarray(probabilities(frame))),
    )


def read_onnx(path: Path) -> FileModel:
    """Read an ONNX model of rows, to be run by onnxruntime.

    It has one input of all columns, as numbers, or one input a column; its first output are the
    labels, the probabilities, or a regression's numbers.

    Raises
    ------
    ModelError
        If the file cannot be read.
    MissingExtraError
        If onnxruntime is not installed.
    """
    try:
        import onnxruntime
    except ImportError as error:
        raise _missing("onnxruntime", path) from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = _read(
        lambda: onnxruntime.InferenceSession(
            read_bytes(path, at_most=memory_limit()), options, providers=["CPUExecutionProvider"]
        ),
        path,
    )
    inputs = session.get_inputs()
    outputs = session.get_outputs()

    def given(frame: pd.DataFrame) -> dict[str, NDArray[Any]]:
        if len(inputs) > 1:
            return {
                item.name: frame[item.name]
                .to_numpy(dtype=_ONNX_TYPES.get(item.type, np.float32))
                .reshape(-1, 1)
                for item in inputs
            }
        dtype = _ONNX_TYPES.get(inputs[0].type, np.float32)
        if dtype is not object:
            # The shape of an input of all columns is (rows, columns).
            check_number_columns(frame, width=inputs[0].shape[-1], taker="the ONNX model")
        return {inputs[0].name: frame.to_numpy(dtype=dtype)}

    def answer(frame: pd.DataFrame) -> Any:
        return session.run([outputs[0].name], given(frame))[0]

    columns = None if len(inputs) == 1 else [item.name for item in inputs]
    read = OnnxProbabilities()
    of_numbers = outputs[0].type in ONNX_FLOATS
    beside_labels = len(outputs) > 1 and outputs[1].type.startswith(ONNX_PROBABILITIES)

    def class_probabilities(frame: pd.DataFrame) -> ClassProbabilities:
        if of_numbers:
            return read.of_numbers(answer(frame))
        return read.beside_labels(*session.run([item.name for item in outputs[:2]], given(frame)))

    # An ONNX file of floats does not say whether they are probabilities or a regression's numbers.
    return FileModel(
        answer,
        columns=columns,
        numbers=NumbersModel(answer, columns=columns, path=path),
        class_probabilities=class_probabilities if of_numbers or beside_labels else None,
    )


_ONNX_TYPES: dict[str, Any] = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(int64)": np.int64,
    "tensor(int32)": np.int32,
    "tensor(bool)": np.bool_,
    "tensor(string)": object,
}


BOOSTER_FILES: dict[str, Callable[[Path], FileModel | NumbersModel]] = {
    ".onnx": read_onnx,
    ".json": read_xgboost,
    ".ubj": read_xgboost,
    ".txt": read_lightgbm,
    ".cbm": read_catboost,
}
"""What reads a file, by how its name ends."""


def booster_model(booster: Any) -> FileModel | NumbersModel:
    """Return what predicts the labels, or the numbers, of a model of a library of boosters.

    Parameters
    ----------
    booster : xgboost.Booster, lightgbm.Booster or catboost.CatBoost

    Returns
    -------
    FileModel or NumbersModel
        Of a regression, or a ranking, a model of numbers.

    Raises
    ------
    ModelError
        If the objective of a booster of LightGBM is unknown.
    """
    if is_booster(booster, "xgboost"):
        return xgboost_model(booster)
    if is_booster(booster, "lightgbm"):
        return lightgbm_model(booster)
    return catboost_model(booster)


def _with_categories(frame: pd.DataFrame, among: Collection[Any]) -> pd.DataFrame:
    """Return texts as categories, for libraries that then look up the codes of their own."""
    texts = [
        name
        for name, dtype in frame.dtypes.items()
        if name in among
        and (pd.api.types.is_string_dtype(dtype) or pd.api.types.is_object_dtype(dtype))
    ]
    return frame.astype(dict.fromkeys(texts, "category")) if texts else frame


def _booleans_as_numbers(frame: pd.DataFrame, among: Collection[Any]) -> pd.DataFrame:
    """Return booleans beside missing cells, which are objects, as the numbers 0 and 1 and NaN."""
    booleans = [
        name
        for name, dtype in frame.dtypes.items()
        if name in among
        and pd.api.types.is_object_dtype(dtype)
        and pd.api.types.infer_dtype(frame[name], skipna=True) in ("boolean", "empty")
    ]
    return frame.astype(dict.fromkeys(booleans, np.float64)) if booleans else frame


def _read(reader: Callable[[], Any], path: Path) -> Any:
    """Return what `reader` reads; each error that it raises becomes a :class:`ModelError`."""
    if (missing := why_no_file(path)) is not None:
        raise ModelError(missing, where=f"model {str(path)!r}", remedy="check the path")
    try:
        return reader()
    except Exception as error:  # each library has errors of its own
        reason = str(error).strip().splitlines()
        raise ModelError(
            f"the file cannot be read ({reason[0][:200] if reason else type(error).__name__})",
            where=f"model {str(path)!r}",
            remedy="check that it is whole, and of the kind that its name says",
        ) from error


def _missing(package: str, path: Path) -> MissingExtraError:
    return MissingExtraError(package, extra=package, purpose=f"reading {path.name}")
