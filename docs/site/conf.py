"""Settings of Sphinx for the documentation site; `docs/site/build.py` builds it."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

project = "Pippin"
author = "the authors of Pippin"
extensions = ["myst_parser", "literals", "tables"]
root_doc = "index"
exclude_patterns = ["images/**/*.json"]
nitpicky = False

myst_enable_extensions = ["colon_fence", "fieldlist"]
myst_heading_anchors = 6
smartquotes_action = "D"  # dashes alone: Sphinx writes two hyphens before the meaning of a parameter
highlight_language = "text"
python_maximum_signature_line_length = 84
python_use_unqualified_type_names = True
add_module_names = False
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = "Pippin"
html_static_path = ["static"]
html_css_files = ["style.css"]
html_js_files = ["offline.js", "copy.js"]
html_search_scorer = str(Path(__file__).parent / "static" / "scorer.js")
html_favicon = "static/favicon.svg"
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
html_show_sphinx = False
html_theme_options = {
    "light_css_variables": {
        "color-brand-primary": "#2f7d32",
        "color-brand-content": "#22692a",
        "color-api-name": "#22692a",
    },
    "dark_css_variables": {
        "color-brand-primary": "#8fce8a",
        "color-brand-content": "#9ad694",
        "color-api-name": "#9ad694",
    },
}
