"""The verdict of a certification and its gates; both depend on the proved shares alone."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING

from testsgd.certification.outcome import Method, Shares
from testsgd.certification.parameters import CertificationParameters
from testsgd.certification.report import wording
from testsgd.certification.report.summary import (
    CertificationSummary,
    CertificationVerdict,
    DomainSummary,
    EstimatedSummary,
    GateRule,
)
from testsgd.report.formatting import count, plural, seconds, series, share, shorten

if TYPE_CHECKING:
    from testsgd.certification.outcome import Certification

DONE = 0
FAILED = 1
NOT_ENOUGH_EVIDENCE = 3

_LABEL = 40

# Shorter times are not told apart.
_SHORTEST = 0.01


def certification_verdict(
    certification: Certification | CertificationSummary,
    proved: Shares,
    estimated: EstimatedSummary | None,
    domain: DomainSummary,
    settings: CertificationParameters,
) -> CertificationVerdict:
    """Return what is proved, and judge the gates by it.

    A gate passes only if it is proved to be kept, fails only if it is proved to be broken, and
    else there is not enough evidence. People whose fairness hangs on rounding count on neither
    side, and what is estimated never decides.
    """
    texts = wording.proved_texts(proved)
    # Found by running the model, so each of them is treated differently for certain.
    shown = sum(not example.proved for example in certification.counterexamples)
    rounded = certification.within_rounding
    headline = _headline(
        proved,
        texts,
        domain,
        counted=wording.people_counts(proved, domain, certification.method),
        shown=shown,
        rounded=rounded > 0,
    )
    sentences = []
    if rounded:
        are = "is" if rounded == 1 else "are"
        headline += f"; {count(rounded)} of all {are} decided by rounding that may differ elsewhere"
        sentences.append(
            f"{plural(rounded, 'person is', 'people are')} so near to where the decision turns "
            "that the rounding of another machine may decide otherwise; they are decided as the "
            "model runs here, and no gate passes or fails by them."
        )
    if shown and not proved.falsified:
        sentences.insert(
            0,
            "No whole part of the domain is proved unfair, but running the model showed people for "
            f"whom the decision changes; {count(shown)} of them {'is' if shown == 1 else 'are'} "
            "among the counterexamples.",
        )
    sure = certification.however_rounded
    left = "More time may decide it." if sure is None else "The rest is decided by rounding."
    rules = _gates(sure or proved, domain, certification.method, settings, texts.digits, left)
    outcomes = {rule.outcome for rule in rules}
    status, code = "reported", DONE
    if "failed" in outcomes:
        status, code = "gate_failed", FAILED
    elif "not_enough_evidence" in outcomes:
        status, code = "not_enough_evidence", NOT_ENOUGH_EVIDENCE
    elif outcomes:
        status = "gate_passed"
    return CertificationVerdict.model_validate(
        {
            "status": status,
            "exit_code": code,
            "headline": f"{headline}.",
            "rules": rules,
            "sentences": [
                *(rule.sentence for rule in rules),
                *_vacuous(certification.only_decision),
                *_estimate(estimated, domain),
                *sentences,
                *_left_out(domain),
                _ending(certification, domain, settings),
            ],
        }
    )


def _vacuous(decision: str | None) -> list[str]:
    """Write that a network is fair only as it decides nothing, if it is known to."""
    if decision is None:
        return []
    return [
        "The network gives every input of the domain the same decision, "
        f"“{shorten(decision, _LABEL)}”, so it is fair without deciding anything: check the "
        "threshold and the domain."
    ]


def _left_out(domain: DomainSummary) -> list[str]:
    """Write which sensitive features are not compared, if too many combinations are why."""
    if not domain.left_out:
        return []
    one = len(domain.left_out) == 1
    return [
        f"Not compared: {series(domain.left_out)}, sensitive too. With {'it' if one else 'them'} "
        "there would be more combinations of protected values than can be compared; which inputs "
        "are protected can be chosen."
    ]


def without_times(summary: CertificationSummary) -> CertificationSummary:
    """Return a summary of which the times were left out with a verdict that tells none either."""
    verdict = certification_verdict(
        summary, summary.proved, summary.estimated, summary.domain, summary.settings
    )
    return summary.model_copy(update={"verdict": verdict})


def _headline(
    proved: Shares,
    texts: wording.ProvedTexts,
    domain: DomainSummary,
    *,
    counted: tuple[int, int] | None,
    shown: int,
    rounded: bool,
) -> str:
    what, everyone = wording.changing(domain), wording.people(domain)
    # Where people are decided by rounding, the shares are what the model does on this machine.
    surely = "" if rounded else "provably "
    if proved.undecided == 0 and proved.falsified == 0:
        return f"For {everyone}, {what} {surely}does not change the decision"
    if proved.undecided == 0 and proved.certified == 0:
        return f"For {everyone}, {what} {surely}changes the decision"
    if counted is not None:
        fair, unfair = counted
        return (
            f"For {count(fair)} of the {plural(fair + unfair, 'person', 'people')} in the domain "
            f"({texts.certified}), {what} {surely}does not change the decision; for the other "
            f"{count(unfair)} it {surely}does"
        )
    tried = f"running the model found {plural(shown, 'person', 'people')} for whom it does"
    if proved.certified == 0 and proved.falsified == 0:
        rest = f"; {tried}" if shown else "; all remain undecided"
        return f"Whether {what} changes the decision is proved for no part of the domain yet{rest}"
    if proved.certified == 0:
        return (
            f"For at least {texts.falsified} of {everyone}, {what} {surely}changes the decision; "
            f"for no part of it is it proved that it does not; {texts.undecided} remain undecided"
        )
    if proved.falsified:
        unfair_part = f"for at least {texts.falsified} it {surely}does"
    else:
        unfair_part = tried if shown else "for no part of it is it proved that it does"
    rest = f"{texts.undecided} remain undecided" if proved.undecided else "nobody is left undecided"
    return (
        f"For at least {texts.certified} of {everyone}, {what} {surely}does not change the "
        f"decision; {unfair_part}; {rest}"
    )


_RULES = {
    "fail_above": "Gate, at most {limit} unfair",
    "fail_below": "Gate, at least {limit} proved fair",
}
_OUTCOMES = {
    ("fail_above", "failed"): "failed. At least {least} are, provably.",
    ("fail_above", "passed"): "passed. At most {most} can be, provably.",
    ("fail_above", "not_enough_evidence"): "not enough evidence. At least {least} are, provably, "
    "and up to {most} can be. {left}",
    ("fail_below", "failed"): "failed. At most {most} can be fair, provably.",
    ("fail_below", "passed"): "passed. At least {least} are.",
    ("fail_below", "not_enough_evidence"): "not enough evidence. At least {least} are, and up "
    "to {most} may be fair. {left}",
}


# More than the rounding of sums of weights, or of the shares of boxes.
_SUMS = Decimal("1e-11")


def _gates(
    proved: Shares,
    domain: DomainSummary,
    method: Method,
    settings: CertificationParameters,
    digits: int,
    left: str,
) -> list[GateRule]:
    rules = []
    people = wording.counted_people(proved, domain, method)
    # The shares of a search that goes on are rounded down already.
    summed = people is None and (method == "enumerated" or not proved.undecided)
    if summed and method == "bounded":
        left = "The difference is within the rounding of sums."
    for name, limit, one, other in (
        ("fail_above", settings.fail_above, proved.falsified, proved.certified),
        ("fail_below", settings.fail_below, proved.certified, proved.falsified),
    ):
        if limit is None:
            continue
        bound = wording.exactly(limit)
        least, most = _ends(one, other, proved.undecided, people)
        # What is within the rounding of sums fails no gate. Bounds are to prove what passes, so
        # only of people who were all tried it passes one.
        if summed and (name == "fail_above" or method == "enumerated"):
            least = _rounded_to(bound, least)
        if summed and (name == "fail_below" or method == "enumerated"):
            most = _rounded_to(bound, most)
        if name == "fail_above":
            passed, failed = most <= bound, least > bound
        else:
            passed, failed = least >= bound, most < bound
        outcome = "passed" if passed else "failed" if failed else "not_enough_evidence"
        sentence = f"{_RULES[name]}: {_OUTCOMES[name, outcome]}".format(
            limit=share(limit),
            least=wording.lower_beside(least, limit, digits),
            most=wording.upper_beside(most, limit, digits),
            left=left,
        )
        rules.append(
            GateRule.model_validate(
                {"name": name, "limit": limit, "outcome": outcome, "sentence": sentence}
            )
        )
    return rules


def _ends(
    share: float, other: float, undecided: float, people: int | None
) -> tuple[Decimal, Decimal]:
    """Return the least and the most that a share can be: all but what is proved of the other.

    The most is not the sum with the undecided share, which was rounded when it was made: a sum of
    1 - 1e-16 must not say that not all can be fair. Of counted people both ends are quotients
    of counts, rounded once, as the limit 0.6 is: so 3 of 5 are equal to it.
    """
    if people is not None:
        most = people - round(other * people)
        return wording.exactly(round(share * people) / people), wording.exactly(most / people)
    if undecided:
        return wording.exactly(share), 1 - wording.exactly(other)
    # The smaller of both is known to more digits: 1e-20 is not 0, though 1 - 1e-20 is the float 1.
    whole = wording.exactly(share) if share <= other else 1 - wording.exactly(other)
    return whole, whole


def _rounded_to(limit: Decimal, share: Decimal) -> Decimal:
    """Return the limit for a share that differs from it by no more than sums are rounded.

    That a share is nothing or all is no matter of rounding.
    """
    return limit if 0 < limit < 1 and abs(share - limit) <= _SUMS else share


def _estimate(estimated: EstimatedSummary | None, domain: DomainSummary) -> list[str]:
    if estimated is None:
        return []
    low, high = wording.between(*estimated.domain_confidence_interval)
    return [
        f"Estimated by sampling, not proved: with {share(estimated.confidence)} confidence the "
        f"decision changes for {low} to {high} of {wording.people(domain)}. Of "
        f"{plural(estimated.samples, 'sample')} of the undecided part it changes for "
        f"{count(estimated.unfair)}."
    ]


def _ending(
    certification: Certification | CertificationSummary,
    domain: DomainSummary,
    settings: CertificationParameters,
) -> str:
    spent, stopped = certification.seconds, certification.stopped
    time = "less than 0.01 s" if spent is not None and spent < _SHORTEST else seconds(spent)
    took, after = (f", in {time}", f" after {time}") if time else ("", "")
    if certification.method == "enumerated" and stopped == "done":
        one = len(domain.protected) == 1
        values = "protected values" if one else "combinations of protected values"
        return (
            f"Every person in the domain was tried with each of the {count(len(domain.compared))} "
            f"{values} that are compared{took}."
        )
    boxes = certification.open_boxes
    left = f" with {plural(boxes, 'box', 'boxes')} left undecided" if boxes else ""
    if stopped == "time":
        return (
            f"The search stopped at its time limit{',' if after else ''}{after}{left}; more time "
            "proves more."
        )
    if stopped == "undecided" and settings.undecided is not None:
        return (
            f"The search stopped{after}{',' if after else ''} as soon as at most "
            f"{share(settings.undecided)} was undecided{',' if left else ''}{left}."
        )
    if stopped == "interrupted":
        return f"The search was interrupted{after}{left}; what was proved until then holds."
    return f"The search ended by itself{after}{left}."
