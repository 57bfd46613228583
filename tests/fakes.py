"""Small working fakes of the ports."""

import re
from dataclasses import dataclass, field, replace
from io import BytesIO

import numpy as np
from PIL import Image

from spatialstudio.domain.attention import (
    AttentionSnapshot,
    ModelLayers,
    TextLayer,
)
from spatialstudio.domain.devices import DeviceCard, MemoryEstimate
from spatialstudio.domain.errors import Cancelled
from spatialstudio.domain.generation import (
    GenerationFinished,
    GenerationRequest,
    GenerationStarted,
    ModelRef,
    PromptEncoded,
    RequestId,
    StepEvent,
)
from spatialstudio.domain.judge_choice import STICKER_DEPTH_ID, STICKER_DETECTOR_ID
from spatialstudio.domain.ports import Seen
from spatialstudio.domain.scene import (
    LEFT_OF,
    MentionId,
    ObjectMention,
    Prompt,
    Relation,
    RelationId,
    RelationType,
    SceneGraph,
    TextSpan,
    TokenReading,
    TokenSpan,
)
from spatialstudio.domain.verdict import (
    Box,
    DepthMap,
    Detection,
    Mask,
)

SIDE = 16
PROCESSOR = DeviceCard(id="cpu", name="CPU", cores=2, free_bytes=4 * 10**9, dtypes=("float32",))
WORD_LIMIT = 20
"""Token limit of the fake text encoder."""


def scene_of(
    subject: str = "dog", other: str = "car", relation_type: RelationType = LEFT_OF
) -> SceneGraph:
    """Return the scene of "a dog to the left of a car", or of other objects and relations."""
    text = f"a photo of a {subject} {relation_type.phrase} a {other}"
    mentions = tuple(
        ObjectMention(
            id=MentionId(f"m{number}"),
            phrase=noun,
            head=noun,
            span=TextSpan(start=start, stop=start + len(noun)),
        )
        for number, noun, start in (
            (1, subject, text.index(subject)),
            (2, other, text.rindex(other)),
        )
    )
    relation = Relation(
        id=RelationId("r1"), type=relation_type, subject=mentions[0].id, object=mentions[1].id
    )
    return SceneGraph(
        prompt=Prompt(text=text), mentions=mentions, relations=(relation,), extractor_id="fake"
    )


def counted_scene() -> SceneGraph:
    """Return the scene of "three dogs to the left of a blue car"."""
    text = "three dogs to the left of a blue car"
    scene = scene_of()
    dogs, car = scene.mentions
    dogs = replace(dogs, phrase="three dogs", is_plural=True, span=TextSpan(start=0, stop=10))
    span = TextSpan(start=text.index("blue"), stop=len(text))
    car = replace(car, phrase="blue car", attributes=("blue",), span=span)
    return replace(scene, prompt=Prompt(text=text), mentions=(dogs, car))


def png_bytes(image):
    """Return the bytes of a PNG file of an image, (H, W, 3) uint8."""
    buffer = BytesIO()
    Image.fromarray(image).save(buffer, format="PNG")
    return buffer.getvalue()


@dataclass
class CountingToken:
    """A token that counts its checks, and cancels at a given one.

    Attributes:
        stop_at: Number of the check that raises ``Cancelled``, from 1; None for never.
        asked: Number of checks so far.
    """

    stop_at: int | None = None
    asked: int = 0

    def raise_if_cancelled(self) -> None:
        self.asked += 1
        if self.stop_at is not None and self.asked >= self.stop_at:
            raise Cancelled


def diffusers_request(model, sampling, **more):
    """Return a request to the diffusers backend for a dog to the left of a car."""
    return GenerationRequest(
        id=RequestId("measured"),
        scene=scene_of(),
        backend_id="diffusers",
        model=ModelRef(id=model.id),
        sampling=sampling,
        **more,
    )


def last_call(events):
    """Return the events since the last start: those of the guided call after a trial."""
    starts = [n for n, event in enumerate(events) if isinstance(event, GenerationStarted)]
    return events[starts[-1] :]


def events_of(backend, request, model, token=None):
    """Generate a request; return the reported events and the returned one, last."""
    events = []
    finished = backend.generate(request, model, token or CountingToken(), events.append)
    return [*events, finished]


@dataclass
class FakeBackend:
    """Generates a grey image, brighter for larger seeds.

    Attributes:
        error: Raised after the first step.
        requests: Requests so far.
        raters: What rates the particles of each of them.
        starts: The picture that each of them repairs.
    """

    id: str = "fake"
    error: Exception | None = None
    requests: list[GenerationRequest] = field(default_factory=list)
    raters: list = field(default_factory=list)
    starts: list = field(default_factory=list)

    def token_spans(self, scene, model):
        return tuple(
            TokenSpan(mention_id=mention.id, encoder_id="text_encoder", indices=(index + 1,))
            for index, mention in enumerate(scene.mentions)
        )

    def devices(self):
        return (PROCESSOR,)

    def denoiser_flops(self, model, height, width):
        return height * width * 1000

    def layers(self, model, height, width):
        layer = TextLayer(name="mid_block.attentions.0", shape=(height // 8, width // 8))
        return ModelLayers(layers=(layer,), guiding=frozenset({layer.name}), heads=1)

    def estimate(self, request, model):
        return MemoryEstimate(weights_bytes=3, guiding_bytes=2, denoising_bytes=1, decoding_bytes=1)

    def read_tokens(self, prompt, model):
        words = list(re.finditer(r"\S+", prompt))
        return (
            TokenReading(
                encoder_id="text_encoder",
                tokens=tuple(TextSpan(start=word.start(), stop=word.end()) for word in words),
                read=min(len(words), WORD_LIMIT),
                limit=WORD_LIMIT,
            ),
        )

    def generate(self, request, model, token, report, rate=None, start=None):
        self.requests.append(request)
        self.raters.append(rate)
        self.starts.append(start)
        started = GenerationStarted(
            request_id=request.id,
            total_steps=request.sampling.steps,
            token_spans=self.token_spans(request.scene, model),
            device="cpu",
        )
        report(started)
        report(PromptEncoded(request_id=request.id))
        for step in range(request.sampling.steps):
            token.raise_if_cancelled()
            report(step_of(request, step))
            if self.error is not None:
                raise self.error
        picture = np.full((SIDE, SIDE, 3), request.sampling.seed % 256, np.uint8)
        return GenerationFinished(
            request_id=request.id, image=picture, seconds=0.5, peak_memory_bytes=1000
        )


@dataclass
class FakeDetector:
    """Detects the first mention in the left half and the second in the right.

    Attributes:
        error: Raised instead of a result.
        signature: Cache key of its results; empty for no caching.
    """

    id: str = "fake-detector"
    error: Exception | None = None
    signature: str = ""

    def detect(self, image, mentions):
        if self.error is not None:
            raise self.error
        height, width = image.shape[:2]
        halves = [slice(0, width // 2), slice(width // 2, width)]
        detections, masks = [], []
        for mention, half in zip(mentions, halves, strict=False):
            pixels = np.zeros((height, width), bool)
            pixels[:, half] = True
            box = Box(left=half.start, top=0, right=half.stop, bottom=height)
            detections.append(
                Detection(
                    mention_id=mention.id,
                    label=mention.head,
                    score=0.9,
                    box=box,
                    detector_id=self.id,
                )
            )
            masks.append(Mask(mention_id=mention.id, pixels=pixels, score=0.9, source_id=self.id))
        return Seen(detections=tuple(detections), masks=tuple(masks))


@dataclass
class FakeDepth:
    """Returns depth that increases from left to right."""

    id: str = "fake-depth"
    signature: str = ""

    def estimate(self, image):
        height, width = image.shape[:2]
        values = np.tile(np.linspace(0, 1, width, dtype=np.float32), (height, 1))
        return DepthMap(values=values, estimator_id=self.id)


def step_of(request: GenerationRequest, step: int) -> StepEvent:
    """Return the event of a step, with flat maps and PoS 0.5."""
    maps = {
        mention.id: np.ones((SIDE // 2, SIDE // 2), np.float32)
        for mention in request.scene.mentions
    }
    return StepEvent(
        request_id=RequestId(request.id),
        step=step,
        total_steps=request.sampling.steps,
        timestep=float(1000 - step),
        pos={relation.id: 0.5 for relation in request.scene.relations},
        attention=AttentionSnapshot(maps=maps, layers=("fake",)),
        preview=np.zeros((SIDE, SIDE, 3), np.uint8),
    )


@dataclass
class FakeEngineRegistry:
    """Gives the engine a ``FakeBackend`` and a judge set with a ``FakeDetector``.

    Attributes:
        made_backend: The generation backend.
        made_detector: The detector.
        is_warm: Whether the backend was asked for.
        missing_plugins: Added to the hints of errors.
    """

    made_backend: FakeBackend = field(default_factory=FakeBackend)
    made_detector: FakeDetector = field(default_factory=FakeDetector)
    is_warm: bool = False
    missing_plugins: str = ""

    def ids(self, kind):
        return ("fake",) if kind == "backend" else (STICKER_DETECTOR_ID, STICKER_DEPTH_ID)

    def backend(self, adapter_id):
        self.is_warm = True
        return self.made_backend

    def detector(self, adapter_id):
        return self.made_detector

    def depth(self, adapter_id):
        return FakeDepth()

    def perturber(self, adapter_id):
        return None

    def perception_store(self, adapter_id):
        return None
