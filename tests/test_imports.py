"""What is loaded with the package's folders."""

import subprocess
import sys

from sources import ROOT, package


def test_no_heavy_library_is_loaded_with_the_stage_of_judges_training_and_evaluation():
    paths = [path.relative_to(ROOT).with_suffix("") for path in package()]
    modules = [
        ".".join(("evenhand", *path.parts)).removesuffix(".__init__") for path in paths if path.parts[0] == "evaluation"
    ]
    code = f"import sys, evenhand.judges.stage, evenhand.train, {', '.join(modules)}\n"
    code += "print({'torch', 'transformers', 'peft', 'trl', 'vllm', 'nltk', 'matplotlib'} & sys.modules.keys())"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "set()\n"
