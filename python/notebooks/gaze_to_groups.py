# %% [markdown]
# # From raw gaze to clusters and a permutation test
#
# This file is a notebook as text: open it in Jupyter (with jupytext), VS Code or Spyder, or run it with Python.
#
# Two groups of people looked at the same pictures. Are scanpaths more alike within a group than between groups?

# %%
import numpy as np
import polars as pl
from sklearn.cluster import AgglomerativeClustering
from sklearn.metrics import adjusted_rand_score

import veilpath as vp

# %% [markdown]
# ## Gaze
#
# We make up fixations, and from them raw gaze at 250 Hz: the samples of a fixation scatter around it. You can use your own
# recordings instead: files of most eye trackers, data frames, or pymovements `Gaze` objects.

# %%
vp.synth_fixations("fixations.csv", groups={"experts": 8, "novices": 8}, difference=0.8, stimuli=3, seconds=6, seed=5)
fixations = pl.read_csv("fixations.csv")
fixations.head()

# %%
rng = np.random.default_rng(5)
samples = (
    fixations.with_columns(pl.int_ranges(0, pl.col("duration").cast(pl.Int64), 4).alias("within"))
    .explode("within")
    .with_columns(time_ms=pl.int_range(pl.len()).over("participant", "stimulus") * 4)
    .select("participant", "group", "stimulus", "time_ms", "x", "y")
)
noise = rng.normal(0, 2, (len(samples), 2))
samples = samples.with_columns(x=pl.col("x") + noise[:, 0], y=pl.col("y") + noise[:, 1])
samples

# %% [markdown]
# ## Letters
#
# A detector finds the fixations again; each becomes the letter of its grid cell. The summary says what was read,
# assumed and dropped.

# %%
cohort = vp.encode(samples, screen=(1280, 720), grid=(7, 7), detect="idt", dispersion="40px")
cohort

# %%
summary = cohort.summary
assert summary is not None
print(summary["rows_read"], "samples,", summary["detected"]["fixations"], "fixations")

# %%
cohort.to_polars().head()

# %% [markdown]
# ## Scores
#
# ScanMatch compares every pair of scanpaths of the same picture. The notebook shows the result's summary.

# %%
result = vp.pairwise(cohort, metric="scanmatch")
result

# %%
result.to_polars().head()

# %% [markdown]
# ## Clusters
#
# The matrix contains the mean similarity of every two participants. scikit-learn expects distances.

# %%
similarity = result.matrix(measure="similarity")
distance = 1 - similarity
np.fill_diagonal(distance, 0)
found = AgglomerativeClustering(2, metric="precomputed", linkage="average").fit_predict(distance)
participants, _ = result.labels()
actual = [cohort.groups[participant] for participant in participants]
print("agreement with the groups:", adjusted_rand_score(actual, found))

# %% [markdown]
# ## A permutation test
#
# Are participants of the same group more alike than participants of different groups? A permutation changes the group of a
# participant with all its scanpaths.

# %%
answer = vp.stats(result, groups=cohort.groups, answers=["groups", "test:groups"], permutations=999, resamples=200)
print(answer)

# %%
test = next(answer for answer in answer.answers if answer["kind"] == "test")
assert test["p_value"] < 0.05

# %% [markdown]
# ## The report
#
# One page for colleagues, without any scanpath.

# %%
vp.report(result, "report.html", title="Experts and novices")
