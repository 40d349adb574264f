"""How Sphinx makes the site from what `stage.py` has laid out beside this file."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
# Pages are made in a process each, and so are examples: BLAS threads would wait for each other.
for threads in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(threads, "1")

import mercer  # noqa: E402

project = "mercer"
author = "mercer contributors"
copyright = author
version = release = mercer.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.intersphinx",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "docstrings",
    "flowchart",
    "mathml",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["extensions", "templates", "examples", "docs/index.md"]
templates_path = ["templates"]
suppress_warnings = [
    "ref.python",  # types in signatures, such as bytes, are also names of attributes
    "config.cache",  # the gallery's configuration holds functions
]
default_role = "code"  # docstrings put code between single backticks
nitpicky = False

myst_enable_extensions = ["attrs_inline", "colon_fence", "dollarmath", "html_image"]
myst_heading_anchors = 4

autosummary_generate = True
autosummary_ignore_module_all = False
autodoc_typehints = "signature"
autodoc_member_order = "bysource"
autodoc_default_options = {"members": True, "inherited-members": True}
autodoc_preserve_defaults = True
napoleon_use_rtype = False
napoleon_use_ivar = True

# Links to other projects need their inventories, which are fetched: not without a network.
intersphinx_mapping = (
    {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
        "pandas": ("https://pandas.pydata.org/docs", None),
    }
    if os.environ.get("MERCER_DOCS_ONLINE")
    else {}
)

sphinx_gallery_conf = {
    "examples_dirs": ["examples"],
    "gallery_dirs": ["gallery"],
    "filename_pattern": r"\.py$",
    "image_scrapers": ("gallery.pictures_of",),
    "reset_argv": "gallery.arguments_of",
    "within_subsection_order": "gallery.Order",
    "reset_modules": ("matplotlib",),
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 1,
    "remove_config_comments": True,
    "parallel": 2,
    "plot_gallery": os.environ.get("MERCER_DOCS_GALLERY", "1") == "1",
    "abort_on_example_error": True,
}

html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "mercer"},
    "show_prev_next": False,
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "header_links_before_dropdown": 6,
    "show_toc_level": 2,
    "navigation_with_keys": False,
    "pygments_light_style": "tango",
    "pygments_dark_style": "monokai",
}
html_sidebars = {"index": []}
