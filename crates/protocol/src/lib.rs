//! Engines that run scanpath comparisons between two roles over a channel.
