"""A classifier that also takes soft graphs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier, Scores
from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense import KERNELS, REQUIRED, dense_forwards
from gnninterpreter.relax.relaxation import Relaxation, softmax_replaced

__all__ = ["RelaxedModel"]


class RelaxedModel:
    """Runs an unmodified classifier on soft graphs, differentiably.

    Args:
        classifier: The classifier.
        dense: Whether common layers are computed by batched matrix products. Without it every layer
            takes the generic path; the results agree.

    Example:
        >>> relaxed = RelaxedModel(classifier)                        # doctest: +SKIP
        >>> with relaxed.session():                                   # doctest: +SKIP
        ...     relaxed(graphs).logits.sum().backward()
    """

    def __init__(self, classifier: GraphClassifier, dense: bool = True) -> None:
        self.classifier = classifier
        self.dense = dense
        self._in_session = False
        self.fast_layers: list[str] = []

    @contextmanager
    def session(self) -> Iterator[RelaxedModel]:
        """Borrow the model for many calls; it comes back as it came, also after an error."""
        if self._in_session:
            yield self
            return
        kernels = {**REQUIRED, **KERNELS} if self.dense else REQUIRED
        with ExitStack() as stack:
            model = stack.enter_context(self.classifier.borrow())
            self.fast_layers = stack.enter_context(dense_forwards(model, kernels))
            stack.enter_context(softmax_replaced())
            self._in_session = True
            try:
                yield self
            finally:
                self._in_session = False

    def __call__(self, graphs: DenseGraphs) -> Scores:
        """Return logits [B, C] and embeddings [B, D], differentiable in weights and features."""
        with self.session():
            candidates = Candidates(graphs)
            with Relaxation(candidates).running():
                return self.classifier.call(candidates.data)
