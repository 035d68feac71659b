# %% [markdown]
# # A private comparison of two institutions, on one machine
#
# A clinic and a university compare their scanpaths without showing them to each other. Here both run on one machine, as a
# rehearsal; in a real comparison each runs its half of this notebook, or one of them uses the command line.

# %%
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import veilpath as vp

# %% [markdown]
# ## Identities
#
# Each institution has an identity: a key that never leaves it. Each reads its fingerprint to the other, for example by
# phone. Here, two folders represent the two machines.

# %%
homes = {name: Path(name) for name in ("clinic", "university")}
for home in homes.values():
    home.mkdir(mode=0o700, exist_ok=True)
identities = {name: home / "identity.pem" for name, home in homes.items()}
fingerprints = {name: vp.identity(path) for name, path in identities.items()}
fingerprints

# %% [markdown]
# ## Cohorts
#
# Each side has its own participants, encoded with the same settings.

# %%
everyone = vp.synth(groups={"patients": 12, "controls": 12}, difference=0.7, stimuli=2, seconds=4, seed=11)
clinic, university = vp.split(everyone, seed=2, names=("clinic", "university"))
clinic, university

# %% [markdown]
# ## The plan
#
# Both sides give the same plan. This one reveals a single test about groups, and no score of any pair.

# %%
plan = {"metric": "levenshtein", "reveal": "test:groups,500"}

# %% [markdown]
# ## The session
#
# The clinic hosts, and the university joins. Each side stores what it has revealed so far in `VEILPATH_HOME`; on two
# machines you need not set it.

# %%
os.environ["VEILPATH_HOME"] = str(homes["clinic"])
hosting = vp.host(clinic, listen="127.0.0.1:0", peer=fingerprints["university"], identity=identities["clinic"], **plan)
address = hosting.address

os.environ["VEILPATH_HOME"] = str(homes["university"])
joining = vp.join(university, address, peer=fingerprints["clinic"], identity=identities["university"], **plan)

# %%
with ThreadPoolExecutor(1) as pool, hosting, joining:
    of_university = pool.submit(joining.result)
    of_clinic = hosting.result()
    same = of_university.result().answers == of_clinic.answers
assert same

# %% [markdown]
# ## The result
#
# Both sides have the answer, and a list of what each side learned.

# %%
print(of_clinic)

# %%
for item in of_clinic.info["revealed"]:
    print(f"{item['to']}: {item['what']}")

# %% [markdown]
# This was a rehearsal with both cohorts on one machine, so we can repeat the same permutations in the clear.

# %%
coins = of_clinic.answers[0]["coins"]
in_the_clear = vp.compare(clinic, university, coins=coins, **plan)
assert in_the_clear.answers[0]["p_value"] == of_clinic.answers[0]["p_value"]

# %%
vp.report(of_clinic, "report.html", title="Clinic and university")
of_clinic
