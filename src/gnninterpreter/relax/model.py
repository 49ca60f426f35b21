"""A classifier that also takes soft graphs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from threading import local

from gnninterpreter.graphs import DenseGraphs
from gnninterpreter.models.classifier import GraphClassifier
from gnninterpreter.models.task import Scores
from gnninterpreter.relax.candidates import Candidates
from gnninterpreter.relax.dense import KERNELS, REQUIRED, Kernel, dense_forwards
from gnninterpreter.relax.relaxation import Relaxation, softmax_replaced


class RelaxedModel:
    """Runs an unmodified classifier on soft graphs, differentiably.

    Common layers, ``fast_layers``, are computed by batched matrix products, unless ``dense`` is
    off: every layer then takes the generic path, and the results agree. Only where the last call
    took nothing but products of matrices (``products_only``) is it faster than the native model on
    discrete graphs, which knows nothing of absent edges.

    Example:
        >>> relaxed = RelaxedModel(classifier)                        # doctest: +SKIP
        >>> with relaxed.session():                                   # doctest: +SKIP
        ...     relaxed(graphs).logits.sum().backward()
    """

    def __init__(self, classifier: GraphClassifier, dense: bool = True) -> None:
        self.classifier = classifier
        self.dense = dense
        self.fast_layers: list[str] = []
        self.products_only = True
        self._thread = local()

    @contextmanager
    def session(self) -> Iterator[RelaxedModel]:
        """Freeze the model for many calls; it comes back as it came, also after an error."""
        if getattr(self._thread, "in_session", False):
            yield self
            return
        with ExitStack() as stack:
            model = stack.enter_context(self.classifier.frozen())
            self.fast_layers = stack.enter_context(dense_forwards(model, self._kernels()))
            stack.enter_context(softmax_replaced())
            self._thread.in_session = True
            try:
                yield self
            finally:
                self._thread.in_session = False

    def __call__(self, graphs: DenseGraphs) -> Scores:
        """Return logits [B, C] and embeddings [B, D], differentiable in weights and features."""
        with self.session():
            if self.classifier.batched or len(graphs) < 2:
                return self._run(graphs)
            # Graphs that would influence each other go through the model one by one.
            parts = [self._run(graphs[b]) for b in range(len(graphs))]
        return Scores.cat(parts)

    def _run(self, graphs: DenseGraphs) -> Scores:
        candidates = Candidates(graphs)
        with Relaxation(candidates, self._kernels()).running():
            scores = self.classifier.call(candidates.data)
        self.products_only = candidates.products_only
        return scores

    def _kernels(self) -> dict[type, Kernel]:
        return {**REQUIRED, **KERNELS} if self.dense else REQUIRED
