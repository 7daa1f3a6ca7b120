"""How Sphinx builds the site. `docs/build.py` calls it."""

import os
import sys
from importlib import import_module
from pathlib import Path

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "_extensions"))

os.environ.update(
    HAYSTACK_TELEMETRY_ENABLED="False",
    LANGSMITH_TRACING="false",
    MLFLOW_DISABLE_TELEMETRY="true",
    RAGAS_DO_NOT_TRACK="true",
    RAY_USAGE_STATS_ENABLED="0",
)
INTEGRATIONS = [
    "haystack_integrations.components.evaluators.retrieval_metrics",
    "haystack_integrations.components.rankers.retrieval_metrics",
    "ir_measures_retrieval_metrics",
    "langchain_retrieval_metrics",
    "llama_index.evaluation.retrieval_metrics",
    "mlflow_retrieval_metrics",
    "pydantic_evals_retrieval_metrics",
    "pytest_retrieval_metrics",
    "ragas_retrieval_metrics",
    "ray_retrieval_metrics",
]
for package in map(import_module, INTEGRATIONS):  # lazy names too: autodoc would read only what is loaded
    for public in package.__all__:
        getattr(package, public)

project = "retrieval-metrics"
author = "The retrieval-metrics authors"
copyright = author  # noqa: A001  (the name is Sphinx's)
html_title = project

extensions = [
    "accessible",
    "docstrings",
    "entries",
    "house",
    "llms",
    "mathml",
    "metric_pages",
    "myst_parser",
    "navigation",
    "plots",
    "readmes",
    "samples",
    "search_words",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_copybutton",
    "sphinx_inline_tabs",
    "wrapping",
]
exclude_patterns = ["_build", "_extensions"]

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_search_scorer = str(DOCS / "_extensions" / "search_scores.js")
html_math_renderer = "mathml"
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "navigation_with_keys": True,
    "footer_icons": [],
}
# Furo's own syntax colours for light and dark keep to 4.5:1 with these.
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"

myst_enable_extensions = ["colon_fence", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

autodoc_default_options = {"members": True, "exclude-members": "model_config, model_post_init"}  # pydantic's own
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
python_maximum_signature_line_length = 88
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True  # an attribute that is a property too is described once
napoleon_use_rtype = False
add_module_names = False

# Annotations name internal aliases, which have no page. Every other reference must lead somewhere.
nitpick_ignore_regex = [("py:class", ".*"), ("py:obj", r"typing\..*")]
suppress_warnings = ["ref.python"]  # two integrations have a RetrievalMetric, and an annotation may mean either

copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = True
