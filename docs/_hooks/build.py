"""The hook that MkDocs calls: adds schemas and reports, checks pages, and draws pictures in."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import dead_links
import figures
import generated_parts
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

from testsgd.data import specification_schema
from testsgd.report.kinds import read_result, result_classes

# In a doctest a blank line must stand between the last output and the end of its block.
_BLANK_BEFORE_FENCE = re.compile(r"\n\n```$", re.MULTILINE)

# A committed report; on the site it is one page of the gallery.
_REPORT = re.compile(r"\(\.\./reports/(?P<name>[\w-]+)/report\.(?:md|html)\)")
_REPORTS = Path(__file__).resolve().parents[2] / "reports"


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the schemas, and the reports of the real data sets rendered from their results."""
    generated = {
        f"schema/{kind.document.file.name}": kind.document.generate_schema()
        for kind in result_classes()
    }
    generated["changelog.md"] = (_REPORTS.parent / "CHANGELOG.md").read_text(encoding="utf-8")
    generated["schema/dataset.schema.json"] = json.dumps(specification_schema(), indent=1) + "\n"
    for path in sorted(_REPORTS.glob("*/result.json")):
        generated[f"gallery/{path.parent.name}.html"] = read_result(path).to_html()
    for path, content in generated.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    """Refuse a page whose generated parts are out of date; link the site's own reports."""
    try:
        current = generated_parts.with_parts(markdown, page=page.file.src_path)
    except ValueError as error:
        raise PluginError(str(error)) from error
    if current != markdown:
        raise PluginError(f"{page.file.src_path} is out of date: run `make pages` and commit it")
    markdown = _BLANK_BEFORE_FENCE.sub("\n```", markdown)
    return _REPORT.sub(r"(gallery/\g<name>.html)", markdown)


def on_page_content(html: str, config: MkDocsConfig, **_: Any) -> str:
    """Draw pictures into the page, so that they follow its colours."""
    return figures.drawn_in(html, config.docs_dir)


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Check every link of the built site, and that pages of the interface are not empty."""
    dead = dead_links.dead_links(Path(config.site_dir))
    if dead:
        raise PluginError("links that lead nowhere:\n" + "\n".join(dead))
    for page in sorted(Path(config.site_dir).glob("api/*/index.html")):
        if "doc-heading" not in page.read_text(encoding="utf-8"):
            raise PluginError(f"{page} shows no name of its package")
