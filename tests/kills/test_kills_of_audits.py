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
        generate_demo(rows=200, seed=seed).to_csv(tmp_path / name / "people.csv", index=False)
    words = ["--predictions", "granted", "--sensitive", "gender,race", "--out", "reports"]
    # Few bootstrap samples: what is in the files is no question of this test.
    words += ["--reproducible", "--replicates", "99", "--stability", "0", "--max-features", "1"]

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
    mixed = 0
    # The moves of the files are among the last steps.
    for step in sorted({*spread(whole.steps, MOST - 6), *range(whole.steps - 6, whole.steps + 1)}):
        shutil.rmtree(reports)
        shutil.copytree(kept, reports)
        assert audit("new", kill_at=step).killed
        found = files_of(reports)
        assert found.keys() == old.keys()
        assert all(found[name] in (old[name], new[name]) for name in found)
        # What programs read is replaced when all is there.
        assert found["result.json"] == old["result.json"] or found == new
        read = killer.run("report", "reports/result.json", "--out", "read", "--quiet")
        if found not in (old, new):
            mixed += 1
            assert (read.code, read.out, read.err.count("\n")) == (2, "", 1)
            assert read.err.startswith("testsgd: ")
        else:
            # Right before the first move it is not known that none was done.
            assert read.code in {0, 2}
        assert audit("new").code == 0
        assert files_of(reports) == new
        # Nothing of the killed one is left.
        assert sorted(path.name for path in reports.iterdir()) == sorted(new)
    assert mixed >= 2
    assert killer.kills >= 10
