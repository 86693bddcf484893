"""The state of a shield, and what it keeps, as a JSON object."""

from __future__ import annotations

from typing import Any

from testsgd.shielding import Shield


def shield_state(shield: Shield) -> dict[str, Any]:
    """Say what a shield keeps and where it stands.

    Parameters
    ----------
    shield : Shield
        It is not changed.

    Returns
    -------
    dict
        JSON-able. The threshold and all biases are exact: fractions in a text such as ``"1/10"``.
    """
    specification = shield.specification
    return {
        "name": specification.name,
        "groups": list(shield.inputs.groups),
        "property": specification.fairness_property.name,
        "threshold": str(specification.threshold),
        "shield": specification.horizon.shield,
        "horizon": specification.horizon.length,
        **shield.to_dict(),
    }
