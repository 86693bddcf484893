"""An audit is killed at any moment: no file is half written, the result comes last."""

from __future__ import annotations

import shutil
from pathlib import Path

from killing import Ended, Killer, files_of, spread

from testsgd.data import generate_demo

MOST = 15


def test_reports_are_old_or_new(killer: Killer, tmp_path: Path) -> None:
    for name, seed in (("old", 1), ("new", 2)):
        (tmp_path / name).mkdir()
        generate_demo(rows=300, seed=seed).to_csv(tmp_path / name / "people.csv", index=False)
    words = ["--predictions", "granted", "--sensitive", "gender,race", "--out", "reports"]

    def audit(name: str, kill_at: int | None = None) -> Ended:
        return killer.run("audit", f"{name}/people.csv", *words, kill_at=kill_at)

    reports = tmp_path / "reports"
    assert audit("old").code == 0
    kept = shutil.copytree(reports, tmp_path / "kept")
    old = files_of(reports)
    whole = audit("new")
    assert whole.code == 0
    new = files_of(reports)
    assert old.keys() == new.keys()
    assert all(old[name] != new[name] for name in old)
    for step in spread(whole.steps, MOST):
        shutil.rmtree(reports)
        shutil.copytree(kept, reports)
        assert audit("new", kill_at=step).killed
        found = files_of(reports)
        assert found.keys() == old.keys()
        assert all(found[name] in (old[name], new[name]) for name in found)
        # What programs read is replaced when all is there.
        assert found["result.json"] == old["result.json"] or found == new
        assert audit("new").code == 0
        assert files_of(reports) == new
        # Nothing of the killed one is left.
        assert sorted(path.name for path in reports.iterdir()) == sorted(new)
    assert killer.kills >= 10
