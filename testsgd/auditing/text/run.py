"""The audit of texts: from texts, sensitive terms and a model to ranked groups."""

from __future__ import annotations

from dataclasses import replace

from testsgd.auditing.clock import Clock
from testsgd.auditing.parameters import TEXT_QUERIES, AuditParameters, RankBy
from testsgd.auditing.run import Progress, again_queries, fits_exactly, named
from testsgd.auditing.text.audit import TextAudit, audit_texts, fewest_texts
from testsgd.auditing.text.clustering import text_clusters
from testsgd.auditing.text.findings import TextFindings
from testsgd.auditing.text.holdout import audit_texts_held_out
from testsgd.auditing.text.plan import check_means, count_variants
from testsgd.data.text import SensitiveTerms, Texts
from testsgd.errors import ParameterError
from testsgd.models import LoadedModel
from testsgd.models.text import TextModel
from testsgd.rules.text import find_mentions, frequent_term_sets


def run_text_audit(
    model: LoadedModel[TextModel],
    texts: Texts,
    terms: SensitiveTerms,
    parameters: AuditParameters,
    *,
    progress: Progress | None = None,
) -> TextFindings:
    """Audit a text model.

    Parameters
    ----------
    model : LoadedModel
        The black box, from :func:`testsgd.models.load_text_model`.
    texts : Texts
        The texts, from :func:`testsgd.data.load_texts` or :func:`testsgd.data.check_texts`.
    terms : SensitiveTerms
        Whose mention makes a difference or not.
    parameters : AuditParameters
        What to do; ``bins`` plays no part.
    progress : callable, optional
        Called now and then with a phase's name, how much is done and how much there is.

    Returns
    -------
    TextFindings

    Raises
    ------
    ModelError
        If the model raises or returns something unusable.
    ParameterError
        If exact mode was asked for and takes more queries than allowed, if groups are to be ranked
        by paired differences and sampling compares nothing in pairs, or if a conditional score was
        asked for.

    References
    ----------
    Zhang et al., TestSGD, sections 4.1 and 4.3.
    """
    if parameters.rank_by == "counterfactual" and parameters.sampling == "independent":
        raise ParameterError(
            "independent sampling compares nothing in pairs",
            where="rank_by",
            remedy="rank by score, or use --sampling pooled",
        )
    if parameters.condition_on:
        raise ParameterError(
            f"“{parameters.condition_on[0]}”: texts have no features besides their terms",
            where="condition_on",
            remedy="leave it out; the paired difference compares the same texts with other terms",
        )
    clock = Clock()
    allowed = parameters.budget(TEXT_QUERIES)
    parameters = replace(parameters, max_queries=allowed, rank_by=_ranked_by(parameters))
    if parameters.rank_by == "counterfactual":
        # The effect is of terms that are put in; so are the rates that stand beside it.
        parameters = replace(parameters, estimand="neighbourhood")
    told = named("asking the model", progress)
    if parameters.holdout is not None:
        return audit_texts_held_out(
            model, texts, terms, parameters, parameters.holdout, clock, told
        )
    with clock.phase("terms"):
        mentions = find_mentions(texts.texts, terms)
        rule_sets = frequent_term_sets(
            mentions,
            min_count=fewest_texts(len(texts), parameters),
            max_features=parameters.max_features,
        )
        variants = count_variants(mentions, rule_sets)
        clusters = text_clusters(texts, mentions)
    needed = (len(texts) + variants) * parameters.draws + again_queries(model, texts)
    exact = fits_exactly(needed, parameters.mode, allowed)
    check_means(parameters, exact=exact, needed=needed)
    audit = TextAudit(
        model=model,
        texts=texts,
        mentions=mentions,
        clusters=clusters,
        rule_sets=rule_sets,
        variants=variants,
        parameters=parameters,
        exact=exact,
    )
    return audit_texts(audit, clock, told)


def _ranked_by(parameters: AuditParameters) -> RankBy:
    """Choose what groups are ranked by, if the user does not say it."""
    if parameters.rank_by != "auto":
        return parameters.rank_by
    return "score" if parameters.sampling == "independent" else "counterfactual"
