"""Which device is taken, and what looking for one costs."""

from __future__ import annotations

import subprocess
import sys


def test_without_a_driver_nobody_imports_torch():
    code = (
        "import sys; from mercer.gram.device import device_choice\n"
        "import mercer.gram.device.devices as d; d._driver = lambda: False\n"
        "assert device_choice('auto') == 'cpu'; assert 'torch' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
