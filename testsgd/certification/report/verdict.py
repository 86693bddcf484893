"""The outcome of a certification in words, and its policy; both by what is proved alone."""

from __future__ import annotations

from decimal import Decimal

from testsgd.certification.report.summary import (
    CertificationSettings,
    CertificationVerdict,
    DomainSummary,
    EstimatedSummary,
    PolicyRule,
    ProvedSummary,
)
from testsgd.certification.report.wording import (
    ProvedTexts,
    between,
    changing,
    exactly,
    lower_beside,
    people,
    people_counts,
    proved_texts,
    upper_beside,
)
from testsgd.report.formatting import count, plural, seconds, share

DONE = 0
FAILED = 1
NOT_ENOUGH_EVIDENCE = 3

# Shorter times are not told apart.
_SHORTEST = 0.01


def certification_verdict(
    proved: ProvedSummary,
    estimated: EstimatedSummary | None,
    domain: DomainSummary,
    settings: CertificationSettings,
    *,
    method: str,
    stopped: str,
    spent: float,
    open_boxes: int = 0,
    within_rounding: int = 0,
    shown_unfair: int = 0,
) -> CertificationVerdict:
    """Return what is proved, and judge the policy by it.

    Parameters
    ----------
    proved, estimated, domain, settings
        The parts of the summary.
    method : {"enumerated", "bounded"}
        Whether every point was tried.
    stopped : {"done", "time", "undecided", "interrupted"}
        Why the search ended.
    spent : float
        Seconds.
    open_boxes : int
        Boxes that are left undecided.
    within_rounding : int
        Enumerated points that another machine's rounding may decide otherwise.
    shown_unfair : int
        Counterexamples that running the model showed, but no proof covers.

    Returns
    -------
    CertificationVerdict
        The policy passes only if it is proved to be kept, fails only if it is proved to be broken,
        and else there is not enough evidence. What is estimated never decides.
    """
    texts = proved_texts(proved)
    headline = _headline(proved, texts, domain, people_counts(proved, domain, method))
    rules = _policy(proved, settings, texts.digits)
    outcomes = {rule.outcome for rule in rules}
    status, code = "reported", DONE
    if "failed" in outcomes:
        status, code = "gate_failed", FAILED
    elif "not_enough_evidence" in outcomes:
        status, code = "not_enough_evidence", NOT_ENOUGH_EVIDENCE
    elif outcomes:
        status = "gate_passed"
    sentences = [
        *(rule.sentence for rule in rules),
        *_estimate(estimated, domain),
        *_without_proof(proved, shown_unfair),
        *_rounding(within_rounding),
        _ending(domain, settings, method, stopped, spent, open_boxes),
    ]
    return CertificationVerdict.model_validate(
        {
            "status": status,
            "exit_code": code,
            "headline": f"{headline}{_only_here(within_rounding)}.",
            "rules": rules,
            "sentences": sentences,
        }
    )


def _headline(
    proved: ProvedSummary,
    texts: ProvedTexts,
    domain: DomainSummary,
    counted: tuple[int, int] | None,
) -> str:
    what, everyone = changing(domain), people(domain)
    if proved.undecided == 0 and proved.falsified == 0:
        return f"For {everyone}, {what} provably does not change the decision"
    if proved.undecided == 0 and proved.certified == 0:
        return f"For {everyone}, {what} provably changes the decision"
    if counted is not None:
        fair, unfair = counted
        return (
            f"For {count(fair)} of the {plural(fair + unfair, 'person', 'people')} in the domain "
            f"({texts.certified}), {what} provably does not change the decision; for the other "
            f"{count(unfair)} it provably does"
        )
    if proved.certified == 0 and proved.falsified == 0:
        return (
            f"Whether {what} changes the decision is proved for nobody in the domain yet; all "
            "remain undecided"
        )
    if proved.certified == 0:
        return (
            f"For at least {texts.falsified} of {everyone}, {what} provably changes the decision; "
            f"for nobody is it proved that it does not; {texts.undecided} remain undecided"
        )
    unfair_part = (
        f"for at least {texts.falsified} it provably does"
        if proved.falsified
        else "for nobody is it proved that it does"
    )
    rest = f"{texts.undecided} remain undecided" if proved.undecided else "nobody is left undecided"
    return (
        f"For at least {texts.certified} of {everyone}, {what} provably does not change the "
        f"decision; {unfair_part}; {rest}"
    )


def _only_here(within_rounding: int) -> str:
    if not within_rounding:
        return ""
    are = "is" if within_rounding == 1 else "are"
    return f"; {count(within_rounding)} of all {are} decided by rounding that may differ elsewhere"


def _policy(
    proved: ProvedSummary, settings: CertificationSettings, digits: int
) -> list[PolicyRule]:
    rules = []
    if settings.max_unfair is not None:
        limit, most = (
            settings.max_unfair,
            _most(proved.falsified, proved.certified, proved.undecided),
        )
        least = lower_beside(proved.falsified, limit, digits)
        highest = upper_beside(most, limit, digits)
        rule = f"Policy, at most {share(limit)} unfair"
        if proved.falsified > limit:
            outcome, said = "failed", f"{rule}: failed. At least {least} are, provably."
        elif most <= exactly(limit):
            outcome, said = "passed", f"{rule}: passed. At most {highest} can be, provably."
        else:
            outcome = "not_enough_evidence"
            said = (
                f"{rule}: not enough evidence. At least {least} are, provably, and up to "
                f"{highest} can be. More time may decide it."
            )
        rules.append(_rule("max_unfair", limit, outcome, said))
    if settings.min_certified is not None:
        limit, most = (
            settings.min_certified,
            _most(proved.certified, proved.falsified, proved.undecided),
        )
        least = lower_beside(proved.certified, limit, digits)
        highest = upper_beside(most, limit, digits)
        rule = f"Policy, at least {share(limit)} proved fair"
        if proved.certified >= limit:
            outcome, said = "passed", f"{rule}: passed. At least {least} are."
        elif most < exactly(limit):
            outcome, said = "failed", f"{rule}: failed. At most {highest} can be fair, provably."
        else:
            outcome = "not_enough_evidence"
            said = (
                f"{rule}: not enough evidence. At least {least} are, and up to {highest} may be "
                "fair. More time may decide it."
            )
        rules.append(_rule("min_certified", limit, outcome, said))
    return rules


def _most(share: float, other: float, undecided: float) -> Decimal:
    """Return the most that a share can be: all but what is proved of the other.

    Not its sum with the undecided share, which was rounded when it was made: a sum of 1 - 1e-16
    must not say that not everybody can be fair.
    """
    return 1 - exactly(other) if undecided else exactly(share)


def _rule(name: str, limit: float, outcome: str, sentence: str) -> PolicyRule:
    return PolicyRule.model_validate(
        {"name": name, "limit": limit, "outcome": outcome, "sentence": sentence}
    )


def _estimate(estimated: EstimatedSummary | None, domain: DomainSummary) -> list[str]:
    if estimated is None:
        return []
    low, high = between(estimated.domain_unfair_low, estimated.domain_unfair_high)
    return [
        f"Estimated by sampling, not proved: with {share(estimated.confidence)} confidence the "
        f"decision changes for {low} to {high} of {people(domain)}. Of "
        f"{plural(estimated.samples, 'sample')} of the undecided part it changes for "
        f"{count(estimated.unfair)}."
    ]


def _without_proof(proved: ProvedSummary, shown: int) -> list[str]:
    if proved.falsified or not shown:
        return []
    return [
        "No whole part of the domain is proved unfair, but running the model showed people for "
        "whom the decision changes; "
        f"{count(shown)} of them {'is' if shown == 1 else 'are'} among the counterexamples."
    ]


def _rounding(points: int) -> list[str]:
    if not points:
        return []
    return [
        f"{plural(points, 'person is', 'people are')} so near to where the decision turns that the "
        "rounding of another machine may decide otherwise; they are decided as the model runs here."
    ]


def _ending(
    domain: DomainSummary,
    settings: CertificationSettings,
    method: str,
    stopped: str,
    spent: float,
    open_boxes: int,
) -> str:
    time = seconds(spent) if spent >= _SHORTEST else "less than 0.01 s"
    if method == "enumerated" and stopped == "done":
        one = len(domain.protected) == 1
        values = "protected values" if one else "combinations of protected values"
        return (
            f"Every person in the domain was tried with each of the {count(len(domain.compared))} "
            f"{values} that are compared, in {time}."
        )
    left = f" with {plural(open_boxes, 'box', 'boxes')} left undecided" if open_boxes else ""
    if stopped == "time":
        return f"The search stopped at its time limit, after {time}{left}; more time proves more."
    if stopped == "undecided" and settings.undecided is not None:
        return (
            f"The search stopped after {time}, as soon as at most {share(settings.undecided)} was "
            f"undecided{',' if left else ''}{left}."
        )
    if stopped == "interrupted":
        return f"The search was interrupted after {time}{left}; what was proved until then holds."
    return f"The search ended by itself after {time}{left}."
