"""Compare scanpaths (eye-movement sequences), even between institutions that may not share their recordings.

>>> import veilpath as vp
>>> cohort = vp.encode("recordings/*.asc", grid=(7, 7))        # files, data frames, or pymovements objects
>>> result = vp.compare(cohort, vp.read_cohort("partner.csv"), metric="scanmatch")
>>> result.matrix(stimulus="scene-1")                          # numpy; or to_pandas, to_polars, to_arrow
>>> vp.report(result, "report.html")

Arguments have the names and defaults of the command line, with ``_`` for ``-``.
"""

from veilpath._cohort import Cohort, read_cohort, split, synth, synth_fixations, synth_random
from veilpath._compare import compare, pairwise
from veilpath._encode import encode, formats
from veilpath._errors import (
    Cancelled,
    ConnectionError,
    InputError,
    OutputError,
    PeerError,
    PlanError,
    PolicyError,
    VeilpathError,
    VeilpathWarning,
)
from veilpath._policy import check_policy, identity, write_policy_example
from veilpath._result import Result, merge, read_result, report, stats
from veilpath._session import Session, host, join
from veilpath._veilpath import __version__

__all__ = [
    "Cancelled",
    "Cohort",
    "ConnectionError",
    "InputError",
    "OutputError",
    "PeerError",
    "PlanError",
    "PolicyError",
    "Result",
    "Session",
    "VeilpathError",
    "VeilpathWarning",
    "__version__",
    "check_policy",
    "compare",
    "encode",
    "formats",
    "host",
    "identity",
    "join",
    "merge",
    "pairwise",
    "read_cohort",
    "read_result",
    "report",
    "split",
    "stats",
    "synth",
    "synth_fixations",
    "synth_random",
    "write_policy_example",
]
