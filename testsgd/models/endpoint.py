"""Models behind an HTTP endpoint: rows go there as JSON, and answers come back."""

from __future__ import annotations

import hashlib
import json
import math
import urllib.parse
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from testsgd.data import check_count
from testsgd.errors import ParameterError
from testsgd.io import loads_json
from testsgd.models.external import SCHEMES, ExternalModel, as_rows, check_above_zero
from testsgd.models.json_rows import canonical_json, json_rows
from testsgd.models.kept_answers import KeptAnswers
from testsgd.models.posting import Poster

_ANSWERS = "predictions"


class EndpointModel(ExternalModel):
    """A model behind an HTTP endpoint.

    It is sent ``{"rows": [{column: value, ...}, ...]}`` with POST, and answers with a JSON list of
    one label or score a row, or with ``{"predictions": [...]}``. Texts are rows of one column,
    ``text``. Missing cells are null, and dates are texts as ISO 8601 writes them.

    Parameters
    ----------
    url : str
        The address, ``http://`` or ``https://``.
    timeout : float
        Seconds without a sign of the endpoint after which a request has failed.
    retries : int
        How often a request is sent again if there is no connection, no answer in time, or an answer
        of the status 429 or of 500 and more. The pauses double each time, and are as long
        as ``Retry-After`` asks.
    requests_per_second : float, optional
        The most requests that are sent in a second.
    batch_rows : int
        The most rows that are in a request.
    cache : path-like, optional
        A file, made if it is not there, that keeps every answer. A row whose answer is kept is not
        asked about again, not even by a later run.
    headers : mapping of str to str, optional
        Sent with each request, such as ``{"Authorization": "Bearer ..."}``.

    Raises
    ------
    ParameterError
        If the address is none, or a number is out of its range.

    Examples
    --------
    >>> EndpointModel("http://localhost:8080/score", batch_rows=200).name
    'http://localhost:8080/score'
    """

    kind = "HTTP endpoint"

    def __init__(
        self,
        url: str,
        *,
        timeout: float = 30,
        retries: int = 4,
        requests_per_second: float | None = None,
        batch_rows: int = 1_000,
        cache: Path | str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        check_above_zero("timeout", timeout)
        check_count("retries", retries, 0)
        if requests_per_second is not None:
            check_above_zero("requests_per_second", requests_per_second)
        check_count("batch_rows", batch_rows, 1)
        super().__init__(_name_of(url))
        self._url = url
        self._batch_rows = batch_rows
        self._kept = None if cache is None else KeptAnswers(Path(cache))
        self.keeps_answers = cache is not None
        self._poster = Poster(
            url,
            name=self.name,
            timeout=timeout,
            retries=retries,
            requests_per_second=requests_per_second,
            headers=headers or {},
        )

    def predict(self, asked: pd.DataFrame | Sequence[str]) -> NDArray[Any]:
        """Return the endpoint's label or score for each row or text.

        Raises
        ------
        ModelError
            If the endpoint cannot be reached, is too slow, or answers nonsense.
        DataError
            If JSON cannot hold a cell.
        ConfigurationError
            If the file of kept answers cannot be used.
        """
        rows = json_rows(as_rows(asked))
        if self._kept is None:
            answers: list[Any] = []
            for start in range(0, len(rows), self._batch_rows):
                answers += self._ask(rows[start : start + self._batch_rows])
            return np.asarray(answers)
        return np.asarray(self._answers_kept_or_asked(rows, self._kept))

    def _answers_kept_or_asked(self, rows: list[dict[str, Any]], kept: KeptAnswers) -> list[Any]:
        """Return the answer about each row; only rows without a kept answer are asked about."""
        keys = [self._key(row) for row in rows]
        by_key = dict(zip(keys, rows, strict=True))
        known = kept.find(list(by_key))
        new = [key for key in by_key if key not in known]
        for start in range(0, len(new), self._batch_rows):
            batch = new[start : start + self._batch_rows]
            batch_answers = self._ask([by_key[key] for key in batch])
            answers = dict(zip(batch, batch_answers, strict=True))
            # After each request: what comes later may fail.
            kept.keep(answers)
            known.update(answers)
        return [known[key] for key in keys]

    def _key(self, row: dict[str, Any]) -> str:
        """Return what a row's answer is kept under."""
        question = f"{self._url}\n{canonical_json(row)}"
        return hashlib.sha256(question.encode()).hexdigest()

    def _ask(self, rows: list[dict[str, Any]]) -> list[Any]:
        """Return the answers to one request."""
        body = json.dumps({"rows": rows}, allow_nan=False).encode()
        content = self._poster.post(body)
        remedy = f"make it answer with a JSON list of {len(rows):,} labels or scores"
        try:
            answered = loads_json(content)
        except (ValueError, RecursionError) as error:
            shown = content[:100].decode("utf-8", errors="replace")
            raise self._error(
                f"the endpoint answered {shown!r}, which is no JSON", remedy
            ) from error
        answers = answered.get(_ANSWERS) if isinstance(answered, dict) else answered
        if not isinstance(answers, list):
            shown = json.dumps(answered)[:100]
            raise self._error(f"the endpoint answered {shown}, which is no list", remedy)
        if len(answers) != len(rows):
            what = f"the endpoint gave {len(answers):,} answers for {len(rows):,} rows"
            raise self._error(what, remedy)
        for place, answer in enumerate(answers):
            # Python reads NaN and Infinity, which JSON does not have and no score is.
            if not isinstance(answer, (str, bool, int, float)) or not _is_finite(answer):
                shown = json.dumps(answer)[:100]
                what = f"the endpoint answered {shown} for row {place} of a request"
                raise self._error(what, "make it answer with a label or a score for every row")
        return answers


def _is_finite(answer: str | float) -> bool:
    return not isinstance(answer, float) or math.isfinite(answer)


def _name_of(url: str) -> str:
    """Return an address without its query, which may hold a key; check it."""
    remedy = "give an address such as http://localhost:8080/score"
    try:
        parts = urllib.parse.urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError as error:
        raise _no_address(f"the address cannot be read ({error})", remedy) from error
    if parts.scheme not in SCHEMES or not host:
        raise _no_address(f"{url!r} is no address of an HTTP endpoint", remedy)
    if any(letter.isspace() or not letter.isprintable() for letter in url) or not url.isascii():
        raise _no_address(f"{url!r} has letters that an address cannot have", remedy)
    if "@" in parts.netloc:
        raise _no_address(
            "the address has a user's name or a password in it",
            "give them in Python, as headers={'Authorization': ...}",
        )
    return parts._replace(query="", fragment="").geturl()


def _no_address(what: str, remedy: str) -> ParameterError:
    return ParameterError(what, where="model", remedy=remedy, name="url")
