"""Products on Torch devices: fused by Triton where a kernel allows it, in blocks where not."""

from mercer.errors import renamed
from mercer.gram.device.devices import device_choice
from mercer.gram.device.multiplier import Multiplier
from mercer.gram.device.numeric_rows import explain_products
from mercer.gram.device.on_device import OnDevice, product
from mercer.gram.device.sketch import DeviceSketch
from mercer.gram.device.whitening import DeviceWhitening

__all__ = [
    "DeviceSketch",
    "DeviceWhitening",
    "Multiplier",
    "OnDevice",
    "device_choice",
    "explain_products",
    "product",
]

__getattr__ = renamed(__name__, {"Engine": "Multiplier", "explained": "explain_products"})
