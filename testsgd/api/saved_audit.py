"""An audit that was saved, as the beginning of something else."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from testsgd.auditing import AuditParameters, Findings
from testsgd.errors import DataError, ModelError, ResultError
from testsgd.reporting import AuditSummary
from testsgd.results import AuditResult


def read_audit(audit: AuditResult | str | Path | None) -> AuditSummary | None:
    """Read the audit that a user names; None if there is none."""
    if audit is None or isinstance(audit, AuditResult):
        return None if audit is None else audit.summary
    return AuditResult.from_json(Path(audit)).summary


def saved_parameters(summary: AuditSummary, *, jobs: int | None = None) -> AuditParameters:
    """Give the parameters that a saved audit was made with, without its gate."""
    saved = summary.parameters.model_dump()
    known = {item.name for item in fields(AuditParameters)} - {"fail_above", "jobs"}
    return AuditParameters(**{name: saved[name] for name in known}, jobs=jobs)


def check_same_data(summary: AuditSummary, fingerprint: str) -> None:
    """Raise a :class:`DataError` if an audit was of other data."""
    if summary.data.fingerprint != fingerprint:
        raise DataError(
            f"the audit is of other data: {summary.data.rows:,} {summary.data.kind} with the "
            f"fingerprint {summary.data.fingerprint[:12]}, these have {fingerprint[:12]}",
            where="audit",
            remedy="give the data that were audited, or leave the audit out to make a new one",
        )


def check_same_model(summary: AuditSummary, *, name: str, file_sha256: str | None) -> None:
    """Raise a :class:`ModelError` if an audit was of another file than the model's."""
    saved = summary.model.file_sha256
    if saved is not None and saved != file_sha256:
        raise _another_model(summary, name, saved, file_sha256 or "no file")


def check_same_audit(summary: AuditSummary, findings: Findings) -> None:
    """Raise an error if an audit that was made again is not the one that was saved.

    Raises
    ------
    ModelError
        If the model decides otherwise.
    ResultError
        If a group has another rank than it had.
    """
    name, found = findings.model.model.name, findings.model_fingerprint
    if summary.model.fingerprint != found:
        raise _another_model(summary, name, summary.model.fingerprint, found)
    for group in summary.groups:
        place = group.rank - 1
        now = (
            findings.rule_set(int(findings.ranking[place])).text
            if place < len(findings.ranking)
            else "nobody"
        )
        if now != group.text:
            raise ResultError(
                f"group {group.rank} of the audit is {group.text!r}, made again it is {now!r}",
                where="audit",
                remedy="audit the model again with this version of testsgd",
                rank=group.rank,
            )


def _another_model(summary: AuditSummary, name: str, saved: str, found: str) -> ModelError:
    return ModelError(
        f"the audit is of another model: of {summary.model.name!r} with the fingerprint "
        f"{saved[:12]}, this one has {found[:12]}",
        where=f"model {name!r}",
        remedy="give the model that was audited, or leave the audit out to make a new one",
        saved=saved,
        found=found,
    )
