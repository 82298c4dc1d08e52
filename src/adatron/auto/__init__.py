"""Estimators that choose for themselves: `AutoSVC` and `AutoSVR`."""

from adatron.auto.auto_svc import AutoSVC
from adatron.auto.auto_svr import AutoSVR
