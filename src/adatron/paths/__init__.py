"""Solutions along a path: `sigma_path` for the kernel's width, `c_path` and `exact_path` for C."""

from adatron.paths.c_path import c_path
from adatron.paths.exact_path import ExactPath, exact_path
from adatron.paths.kernel_path import CPath, KernelPath
from adatron.paths.sigma_path import sigma_path
