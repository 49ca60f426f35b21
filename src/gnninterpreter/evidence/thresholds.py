"""The thresholds by which everything in the package judges; nobody else has any of their own."""

from __future__ import annotations

from gnninterpreter.models.profile import CERTAIN as CERTAIN

PROBABLE = 0.9
"""A mean score below this does not reach the target; one below `CERTAIN` is not certain."""
OUTLYING_PERCENTILE = 10.0
"""Below this percentile of the real graphs an explanation is unlike them."""
SHORTCUT_PERCENTILE = 5.0
"""Below this percentile a certain graph could not pass for a real one: it is a shortcut."""
AGREEING_SHARE = 0.5
"""At least this share of the restarts has to reach the target."""
DISTINCT_SHARE = 0.75
"""Restarts disagree where more graphs than this share of them are distinct."""
RANDOM_GRAPHS = 200
"""How many random graphs an explanation is held against."""
RANDOM_SHARE = 0.9
"""Random graphs do as well where they get at least this share of the explanation's score."""
SKILL = 0.5
"""A model is often wrong where it has less of the way from guessing to being always right."""
FAR_OUT = SKILL**0.5
"""Labels at an end lie so far on the way to the farthest where half of all goes with values."""
FINDING = 1 / 3
"""A model misses most of a class where it has less of the way from guessing to finding all."""
BY_HEART = 0.65
"""Where nothing simple tells a class from the others this often, it may be learned by heart."""
GUESSED = 0.6
"""Where labels are told no more often than by guessing, at the most this, they may be noise."""
COVERING = 0.8
"""What this share of a class holds is what the class is about."""
FAR = 10.0
"""A core that most of a class hold, and so many times as often as others, makes the class."""
CAUSING = 3.0
"""The same of one without which the model turns away, and with which it turns to the class."""
LIFT = 1.5
"""A core that is not this many times as frequent in its class as elsewhere tells little."""
CLEARLY = 0.1
"""A core makes a difference where it does this much more than as many random nodes."""
EXACT_RULE = 0.99
"""A rule that agrees with a smaller share of the labels is one of thumb."""
