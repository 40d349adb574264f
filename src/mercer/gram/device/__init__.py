"""Products on Torch devices: fused by Triton where a kernel allows it, in blocks where not."""

from mercer.gram.device.devices import device_choice
from mercer.gram.device.engine import Engine
from mercer.gram.device.operator import OnDevice, product
from mercer.gram.device.plain import explained
from mercer.gram.device.sketch import DeviceSketch
from mercer.gram.device.whitening import DeviceWhitening

__all__ = [
    "DeviceSketch",
    "DeviceWhitening",
    "Engine",
    "OnDevice",
    "device_choice",
    "explained",
    "product",
]
