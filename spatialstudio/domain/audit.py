"""Audits: samples for people to label, their votes, and the session that collects them."""

from collections.abc import Mapping

from spatialstudio.domain.frozen import frozen
from spatialstudio.domain.verdict import Outcome


@frozen
class Stratum:
    """A group of pictures that is sampled as one.

    Attributes:
        method: Name of the method that generated them.
        relation: Id of the relation type.
        verdict: The checker's outcome.
    """

    method: str
    relation: str
    verdict: Outcome

    @property
    def key(self) -> tuple[str, str, str]:
        """Sort key, and the stratum in files."""
        return self.method, self.relation, self.verdict.value


@frozen
class AuditCandidate:
    """A judged picture that may be sampled.

    Attributes:
        id: Id of the sample, unique in the audit.
        stratum: Method, relation and verdict.
        confidence: The checker's confidence, [0, 1].
    """

    id: str
    stratum: Stratum
    confidence: float


@frozen(eq=False)
class StratifiedSample:
    """A drawn sample.

    Attributes:
        drawn: The pictures, in order.
        weights: Pictures of the population that each represents, >= 1.
        sizes: Drawn and existing pictures of each stratum.
    """

    drawn: tuple[AuditCandidate, ...]
    weights: tuple[float, ...]
    sizes: Mapping[Stratum, tuple[int, int]]
