"""Tests a fresh installation, without any other package: a comparison, a report, a private session."""

import os
import tempfile
import threading
from pathlib import Path

import veilpath as vp

folder = Path(tempfile.mkdtemp())
homes = [folder / "clinic", folder / "university"]
for home in homes:
    home.mkdir(mode=0o700)
identities = [home / "identity.pem" for home in homes]
fingerprints = [vp.identity(path) for path in identities]
clinic, university = vp.split(vp.synth(participants=8, stimuli=2, seed=7), seed=1)
expected = vp.compare(clinic, university)
vp.report(expected, folder / "report.html")
assert (folder / "report.html").stat().st_size > 10_000

os.environ["VEILPATH_HOME"] = str(homes[0])
host = vp.host(clinic, listen="127.0.0.1:0", peer=fingerprints[1], identity=identities[0], limit_per_scanpath=100)
address = host.address
os.environ["VEILPATH_HOME"] = str(homes[1])
join = vp.join(university, address, peer=fingerprints[0], identity=identities[1], limit_per_scanpath=100)
other = threading.Thread(target=join.result)
other.start()
result = host.result()
other.join()
assert str(result).splitlines()[0] == str(expected).splitlines()[0], (str(result), str(expected))
print(f"    veilpath {vp.__version__}: {len(result)} scores of a private session equal those in the clear")
