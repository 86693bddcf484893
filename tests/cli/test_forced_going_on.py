"""--force begins anew what work goes on from, where the file is none of testsgd's own."""

from __future__ import annotations

import io
import shutil
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path
from types import SimpleNamespace

import command_line
import pytest

import testsgd as package
from testsgd.data import bundled_folder
from testsgd.io import check_no_input, replacing_any_file
from testsgd.mitigation.journal import Journal
from testsgd.models.kept_answers import KeptAnswers

folder, testsgd, fails = command_line.folder, command_line.testsgd, command_line.fails

Fails = Callable[..., str]
Runs = Callable[..., command_line.Finished]

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
SHIELD = EXAMPLES / "shields" / "loans-demographic-parity.toml"
MONITOR = EXAMPLES / "monitors" / "loans-demographic-parity.toml"
PEOPLE = EXAMPLES / "generative" / "people.toml"
EVENTS = '{"group": "female", "decision": 1}\n{"group": "male", "decision": 0}\n'
NETWORK = ("demo", "--domain", "demo", "--protected", "gender")
# A checkpoint has nothing of what is drawn after the search, nor of the pages of the report.
BRIEF = ("--time-limit", "0.2", "--samples", "0", "--format", "json")
# Files of others: a text, lines and documents.
OF_OTHERS = [
    "notes without a line break",
    "a first line\nand a last one that is not ended",
    '{"mine": [1, 2]}\n',
    '{"format": "of something else"}\n{"mine": 1}\n',
    "Of `testsgd audit`: testsgd 1 says .npy, and testsgd.audit says more than this.\n",
    '{"group": "a", "recommendation": 1, "digest": "sha256:0", "checksum": 7}\n',
    f'["testsgd"]\n{{"digest": "{"0" * 64}"}}\n{{"group":"a","recommendation":1,"cost":1}}\n',
    "notes of header.npy, tree_depth.npy and testsgd 1.2.3\n[tool.testsgd]\nname = 'testsgd.audit'",
]


@pytest.fixture
def shield(folder: Path) -> Path:
    path = folder / "loans.npz"
    package.synthesize_shield(SHIELD).save(path)
    return path


def journal_of_one(shield: Path, journal: Path) -> None:
    """Make a journal of a shield with one decision."""
    with package.load_shield(shield, journal=journal) as running:
        running.decide("female", 1)


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_journal_of_a_shield(
    content: str,
    shield: Path,
    folder: Path,
    testsgd: Runs,
    fails: Fails,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    theirs = folder / "decisions"
    theirs.write_text(content)
    request = b'{"group": "female", "recommendation": 1}\n'
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(request)))
    words = ("shield", "run", shield, "--journal", theirs)
    assert "--force" in fails(*words)
    assert theirs.read_text() == content
    assert testsgd(*words, "--force").code == 0
    with package.load_shield(shield, journal=theirs) as resumed:
        assert resumed.step == 1
    # From now on it is one of testsgd's, which force does not begin anew.
    with replacing_any_file(), package.load_shield(shield, journal=theirs) as resumed:
        assert resumed.step == 1


def test_a_journal_in_another_encoding_stays_as_it_is(shield: Path, folder: Path) -> None:
    journal = folder / "decisions"
    journal_of_one(shield, journal)
    for encoding in ("utf-16-le", "utf-16", "utf-32"):
        other = journal.read_text().encode(encoding)
        (folder / encoding).write_bytes(other)
        with replacing_any_file(), pytest.raises(package.errors.JournalError):
            package.load_shield(shield, journal=folder / encoding)
        assert (folder / encoding).read_bytes() == other


def test_a_journal_of_another_shield_is_never_begun_anew(shield: Path, folder: Path) -> None:
    journal = folder / "decisions"
    journal_of_one(shield, journal)
    before = journal.read_bytes()
    other = folder / "other.toml"
    text = SHIELD.read_text(encoding="utf-8")
    other.write_text(text.replace("bound = ", "bound = 0.9 # "), encoding="utf-8")
    with replacing_any_file():
        with pytest.raises(package.errors.JournalError):
            package.synthesize_shield(other, journal=journal)
        assert journal.read_bytes() == before
        journal.write_bytes(before + b"no JSON\n")
        with pytest.raises(package.errors.JournalError):
            package.load_shield(shield, journal=journal)
    assert journal.read_bytes() == before + b"no JSON\n"


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_state_of_a_monitor(content: str, folder: Path, testsgd: Runs, fails: Fails) -> None:
    (folder / "events.jsonl").write_text(EVENTS)
    theirs = folder / "state"
    theirs.write_text(content)
    words = ("monitor", "run", MONITOR, "--events", "events.jsonl", "--state", "state")
    assert "state" in fails(*words)
    assert theirs.read_text() == content
    assert testsgd(*words, "--force").code == 3
    before = theirs.read_bytes()
    assert testsgd(*words, "--force").code == 3
    # It was gone on with: twice as many decisions.
    assert theirs.read_bytes() != before
    theirs.write_bytes(before[:-20])
    assert testsgd(*words, "--force").code == 2
    assert theirs.read_bytes() == before[:-20]


def test_an_input_is_no_state(folder: Path, fails: Fails) -> None:
    events = folder / "events.jsonl"
    events.write_text(EVENTS)
    fails("monitor", "run", MONITOR, "--events", events, "--state", events, "--force")
    assert events.read_text() == EVENTS


@pytest.mark.parametrize(
    ("content", "resume"), list(zip(OF_OTHERS, [[], ["--resume"]] * 4, strict=True))
)
def test_a_checkpoint(
    content: str, resume: list[str], folder: Path, testsgd: Runs, fails: Fails
) -> None:
    theirs = folder / "search.npz"
    theirs.write_text(content)
    words = ("certify", *NETWORK, *BRIEF, "--checkpoint", "search.npz", *resume)
    assert "search.npz" in fails(*words, "--out", "mine")
    assert theirs.read_text() == content
    assert testsgd(*words, "--out", "mine", "--force").code == 0
    own = theirs.read_bytes()
    # From now on it is one of testsgd's: it is gone on with, or stays as it is.
    assert testsgd(*words, "--out", "mine", "--force").code == (0 if resume else 2)
    assert resume or theirs.read_bytes() == own


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_journal_of_a_mitigation(content: str, folder: Path) -> None:
    theirs = folder / "journal.json"
    theirs.write_text(content)
    with pytest.raises(package.errors.ConfigurationError):
        Journal(theirs, {"work": 1}, resume=True)
    assert theirs.read_text() == content
    with replacing_any_file():
        Journal(theirs, {"work": 1}, resume=True).keep("one", [1])
        assert Journal(theirs, {"work": 1}, resume=True).get("one") == [1]
        # One of testsgd's is never begun anew where the work is to go on from it.
        own = theirs.read_text()
        with pytest.raises(package.errors.ConfigurationError):
            Journal(theirs, {"work": 2}, resume=True)
        theirs.write_text(own[:-9])
        with pytest.raises(package.errors.ConfigurationError):
            Journal(theirs, {"work": 1}, resume=True)
    assert theirs.read_text() == own[:-9]


@pytest.mark.parametrize("content", OF_OTHERS)
def test_a_state_of_an_enforcer(content: str, folder: Path) -> None:
    theirs = folder / "state.db"
    theirs.write_text(content * 20)
    with pytest.raises(package.errors.StateError):
        package.Enforcer(PEOPLE, state=theirs)
    assert theirs.read_text() == content * 20
    with replacing_any_file():
        enforcer = package.Enforcer(PEOPLE, state=theirs)
    enforcer.finish(enforcer.begin("a portrait of a nurse"), "a woman")
    enforcer.close()
    with replacing_any_file(), closing(package.Enforcer(PEOPLE, state=theirs)) as again:
        assert len(list(again.journal())) > 0


def test_a_database_of_others_and_what_is_beside_it(folder: Path) -> None:
    theirs = folder / "state.db"
    with closing(sqlite3.connect(theirs)) as connection:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("CREATE TABLE notes (text TEXT)")
        connection.commit()
        logs = [theirs.with_name(f"state.db{ending}") for ending in ("-wal", "-shm")]
        log = logs[0].read_bytes()
    logs[0].write_bytes(log)
    with pytest.raises(package.errors.StateError):
        package.Enforcer(PEOPLE, state=theirs)
    assert logs[0].read_bytes() == log
    with replacing_any_file():
        package.Enforcer(PEOPLE, state=theirs).close()
    with closing(sqlite3.connect(theirs)) as connection:
        tables = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    assert "notes" not in tables
    assert "state" in tables


@pytest.mark.parametrize("content", OF_OTHERS)
def test_answers_of_a_model(content: str, folder: Path) -> None:
    theirs = folder / "answers"
    theirs.write_text(content)
    with pytest.raises(package.errors.ConfigurationError, match="--force"):
        KeptAnswers(theirs).keep({"one": 1})
    assert theirs.read_text() == content
    with replacing_any_file():
        answers = KeptAnswers(theirs)
    answers.keep({"one": 1})
    with replacing_any_file():
        assert KeptAnswers(theirs).find(["one"]) == {"one": 1}


def damaged(content: bytes) -> list[bytes]:
    """Return what a file may have become: cut, a byte changed, a mark before it, lines lost."""
    return [
        content,
        content[: max(300, len(content) - 200)],
        b"\xef\xbb\xbf" + content,
        bytes([content[0] ^ 1]) + content[1:],
        content[:25],
        content[:100],
        content[:300],
        content.decode("latin-1").encode("utf-16"),
        b"\0" * 60 + content[60:],
        content[:70] + bytes(byte ^ 4 for byte in content[70:71]) + content[71:],
    ]


@pytest.fixture
def own(folder: Path, shield: Path, testsgd: Runs) -> dict[str, bytes]:
    """Files that work goes on from, and a shield, by what they are."""
    (folder / "events.jsonl").write_text(EVENTS)
    journal_of_one(shield, folder / "journal")
    words = ("monitor", "run", MONITOR, "--events", "events.jsonl", "--state", "state")
    assert testsgd(*words).code == 3
    words = ("certify", *NETWORK, *BRIEF, "--checkpoint", "search.npz")
    assert testsgd(*words, "--out", "mine").code == 0
    with closing(package.Enforcer(PEOPLE, state=folder / "enforcer")) as enforcer:
        enforcer.finish(enforcer.begin("a portrait of a nurse"), "a woman")
    KeptAnswers(folder / "answers").keep({"one": 1})
    Journal(folder / "mitigation", {"work": 1}, resume=False).keep("one", [1])
    names = ["journal", "state", "search.npz", "enforcer", "answers", "mitigation", shield.name]
    return {name: (folder / name).read_bytes() for name in names}


def test_files_of_testsgd_are_never_begun_anew(
    own: dict[str, bytes], shield: Path, folder: Path, testsgd: Runs
) -> None:
    def as_journal(path: Path) -> None:
        package.load_shield(shield, journal=path).close()

    def as_state(path: Path) -> None:
        package.load_monitor(MONITOR, state=path)

    def as_dead_letters(path: Path) -> None:
        package.monitor(MONITOR, [{"no": "event"}], dead_letters=path)

    def as_checkpoint(path: Path) -> None:
        package.certify("demo", "demo", protected="gender", checkpoint=path, time_limit=0.1)

    def as_enforcer(path: Path) -> None:
        package.Enforcer(PEOPLE, state=path).close()

    def as_answers(path: Path) -> None:
        KeptAnswers(path).keep({"one": 1})

    def as_mitigation(path: Path) -> None:
        Journal(path, {"work": 2}, resume=True).keep("one", [1])

    openers = {
        "journal": as_journal,
        "state": as_state,
        "letters": as_dead_letters,
        "search.npz": as_checkpoint,
        "enforcer": as_enforcer,
        "answers": as_answers,
        "mitigation": as_mitigation,
    }
    for name, content in own.items():
        for number, present in enumerate(damaged(content)):
            for kind, opener in openers.items():
                if kind == name:
                    continue
                target = folder / f"{name}-{number}-{kind}"
                target.write_bytes(present)
                with replacing_any_file(), suppress(package.TestSGDError):
                    opener(target)
                assert target.read_bytes() == present, target


def test_what_is_replaced_is_back_if_nothing_came_of_it(
    shield: Path, folder: Path, fails: Fails
) -> None:
    theirs = folder / "decisions"
    theirs.write_text(OF_OTHERS[0])
    words = ("shield", "serve", shield, "--port", "99999", "--journal", theirs, "--force")
    fails(*words)
    assert theirs.read_text() == OF_OTHERS[0]


@pytest.mark.parametrize("wrong", [("--port", "99999"), ("--upstream", "nonsense")])
def test_no_state_is_made_for_what_cannot_be_served(
    wrong: tuple[str, str], folder: Path, fails: Fails
) -> None:
    theirs = folder / "state.db"
    theirs.write_text(OF_OTHERS[0])
    right = {"--upstream": "http://127.0.0.1:9/v1", "--port": "0", wrong[0]: wrong[1]}
    words = [word for option in right.items() for word in option]
    fails("generative", "serve", "--spec", PEOPLE, "--state", theirs, "--force", *words)
    assert theirs.read_text() == OF_OTHERS[0]


@pytest.mark.parametrize("beside", ["preprocessing.json", "card.json"])
def test_what_is_read_beside_a_model_is_an_input(beside: str, folder: Path, fails: Fails) -> None:
    model = Path(shutil.copytree(bundled_folder("models") / "demo", folder / "model"))
    before = (model / beside).read_bytes()
    words = ("certify", model / "model.keras", "--domain", "demo", "--protected", "gender")
    fails(*words, "--checkpoint", model / beside, "--force")
    assert (model / beside).read_bytes() == before


def test_a_module_of_a_specification_is_an_input(folder: Path, fails: Fails) -> None:
    module = folder / "readers.py"
    module.write_text("def gender(output):\n    return None\n")
    text = PEOPLE.read_text(encoding="utf-8")
    specification = folder / "people.toml"
    specification.write_text(f'{text}\n# classify = "readers:gender"\n', encoding="utf-8")
    specification.write_text(
        text.replace("[groupings", '[mine]\nof = "readers:gender"\n[groupings', 1)
    )
    fails("generative", "serve", "--spec", specification, "--upstream", "http://127.0.0.1:9/v1",
          "--state", module, "--force")  # fmt: skip
    assert module.read_text().startswith("def gender")


# A module that is read, and the files of which one is to be replaced.
MODULES = {
    "readers.py": "import helper, missing\n\ndef gender(output):\n    from package import part\n",
    "helper.py": "import deeper, json, folder\n",
    "deeper.py": "from helper import nothing\n",
    "package/__init__.py": "",
    "package/part.py": "from . import near\n",
    "package/near.py": "from .. import deeper\n",
    "package/reader.py": "from .part import near\nimport helper\n",
    "folder/reader.py": "def gender(output):\n    from . import part\n    import elsewhere\n",
    "folder/part.py": "from package.near import nothing\n",
    "more/elsewhere.py": "",
    "more/library.py": "import deeper\n",
    "wrong.py": "import helper, package.near, elsewhere\nimport (\n",
}


@pytest.mark.parametrize(
    ("named", "imported"),
    [
        ("readers", "helper.py"),
        ("readers", "deeper.py"),
        ("readers", "package/part.py"),
        ("readers", "package/near.py"),
        ("package.reader", "package/__init__.py"),
        ("package.reader", "package/near.py"),
        ("package.reader", "deeper.py"),
        ("folder.reader", "folder/part.py"),
        ("folder.reader", "package/near.py"),
        ("folder.reader", "more/elsewhere.py"),
        ("wrong", "wrong.py"),
        ("library", "more/library.py"),
        ("library", "deeper.py"),
    ],
)
def test_what_a_module_of_a_specification_imports_is_an_input(
    named: str, imported: str, folder: Path, fails: Fails, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in MODULES.items():
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    monkeypatch.syspath_prepend(folder / "more")
    text = PEOPLE.read_text(encoding="utf-8")
    specification = folder / "people.toml"
    specification.write_text(
        text.replace("[groupings", f'[mine]\nof = "{named}:gender"\n[groupings', 1)
    )
    words = ("generative", "serve", "--upstream", "http://127.0.0.1:9/v1", "--port", "0")
    message = fails(*words, "--spec", specification, "--state", imported, "--force")
    assert imported in message
    assert (folder / imported).read_text() == MODULES[imported]


def test_a_module_that_is_loaded_is_an_input() -> None:
    with replacing_any_file(), pytest.raises(package.errors.ConfigurationError):
        check_no_input(command_line.__file__)
