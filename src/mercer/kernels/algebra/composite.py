"""Composites: what kernels made of kernels have in common."""

from __future__ import annotations

from mercer.domains import Domain, join
from mercer.errors import ValidityError
from mercer.kernels.base import Kernel

__all__ = ["Composite", "common_domain", "need_kernel"]


class Composite(Kernel):
    """A kernel made of others on the same things."""

    arrays = 1

    @property
    def domain(self) -> Domain:  # type: ignore[override]
        return common_domain(self)

    @property
    def threads(self) -> bool:  # type: ignore[override]
        return all(child.threads for child in self.children())

    def workspace(self) -> int:
        # Parts are evaluated one after another: each leaves its values, and what they share.
        parts = [child.workspace() for child in self.children()]
        return self.arrays + max(parts) + len(parts) - 1


def need_kernel(value: object) -> Kernel:
    """Return a kernel, refusing anything else."""
    if not isinstance(value, Kernel):
        raise ValidityError(f"the algebra is about kernels, found {value!r}; see also named(...)")
    return value


def common_domain(whole: Kernel) -> Domain:
    """Return what all parts of a kernel can compare."""
    parts = whole.children()
    domain = parts[0].domain
    for part in parts[1:]:
        shared = join(domain, part.domain)
        if shared is None:
            raise ValidityError(
                f"{parts[0]!r} and {part!r} compare different things, so they cannot be combined; "
                "for tables, say which columns each looks at with .on(...)"
            )
        domain = shared
    return domain
