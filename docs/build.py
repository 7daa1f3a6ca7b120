"""Build the site: `uv run --all-extras --group docs docs/build.py [FOLDER]`, by default into docs/_build/html.

Nothing is fetched. A warning of Sphinx ends the build, and so does a link, a picture or a script that leads nowhere
inside the site, or that a browser would fetch from somewhere else.
"""

import sys
from pathlib import Path

from references import broken
from sphinx.cmd.build import main as sphinx

HERE = Path(__file__).parent


def main(site: Path) -> int:
    """Build the site and check its references; return 0 if all is well."""
    options = ["--fail-on-warning", "--keep-going", "--nitpicky", "--quiet", "--fresh-env", "--write-all"]
    folders = ["--doctree-dir", str(site.parent / "doctrees"), str(HERE), str(site)]
    if status := sphinx([*options, "--builder", "html", *folders]):
        return status
    if wrong := list(broken(site)):
        print(*wrong, sep="\n", file=sys.stderr)
        return 1
    print(f"built {site / 'index.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE / "_build" / "html"))
