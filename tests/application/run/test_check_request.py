from dataclasses import replace
from math import inf, nan

import pytest

from spatialstudio.application.run.check_request import check_request
from spatialstudio.domain.attention import AttentionDetail
from spatialstudio.domain.devices import Saving
from spatialstudio.domain.errors import RequestError
from spatialstudio.domain.generation import (
    CaptureSettings,
    GenerationRequest,
    GuidanceSettings,
    ModelRef,
    NoiseSearch,
    PlaceTarget,
    Refinement,
    RequestId,
)
from spatialstudio.domain.repair import LocalRepair, Region
from spatialstudio.domain.run_settings import with_values
from spatialstudio.domain.steering import (
    Steering,
)
from tests.fakes import scene_of
from tests.ui.scripted_engine import STICKERS

GOOD = GenerationRequest(
    id=RequestId("asked"), scene=scene_of(), backend_id="fake", model=ModelRef(id=STICKERS.id)
)


def guided(**changes):
    return {"guidance": GuidanceSettings(**changes)}


def presence(**options):
    return guided(method_id="psg-presence", options=options)


HALF = Region(x=0.5, y=0.0, width=0.5, height=1.0)


def repair(*regions, feather=0.05):
    return LocalRepair(start="earlier", sha256="", regions=regions, feather=feather)


def test_a_usual_request_is_accepted():
    check_request(GOOD, STICKERS)


@pytest.mark.parametrize(
    "fine",
    [
        {"seed": 2**32 - 1},
        {"steps": 1000},
        {"width": 64, "height": 4096},
        {"search": NoiseSearch(candidates=1000, enough=1.0)},
        {"capture": CaptureSettings(attention_every=0, preview_every=0)},
        {
            "search": NoiseSearch(candidates=2),
            "capture": CaptureSettings(detail=AttentionDetail.EVERYTHING, attention_every=0),
        },
        presence(paper_loss=True, presence_weight=0),
        {"steering": Steering(particles=64, keep=1.0, start=1.0, stop=1.0, every=1.0, strength=0)},
        {"repair": repair(HALF, feather=0.5)},
        guided(goal=1.0, decay=1.0, strength=0.0),
    ],
    ids=str,
)
def test_ranges_include_both_ends(fine):
    check_request(with_values(GOOD, **fine), STICKERS)


def at(mention, x=0.3, size=None):
    return PlaceTarget(mention_id=mention, x=x, y=0.6, size=size)


@pytest.mark.parametrize(
    ("faulty", "told"),
    [
        ({"seed": -1}, "seed -1"),
        ({"seed": 2**32}, "seed 4294967296"),
        ({"steps": 0}, "0 denoising steps"),
        ({"steps": 1001}, "1001 denoising steps"),
        ({"guidance_scale": nan}, "CFG scale cannot be nan"),
        ({"guidance_scale": -1.0}, "CFG scale cannot be -1"),
        ({"width": 60}, "width of 60"),
        ({"height": 8192}, "height of 8192"),
        ({"search": NoiseSearch(candidates=0)}, "0 candidates"),
        ({"steering": Steering(particles=0)}, "0 particles"),
        ({"steering": Steering(particles=65)}, "65 particles"),
        ({"steering": Steering(keep=0.0)}, "particles that continue cannot be 0"),
        ({"steering": Steering(start=1.1)}, "start of steering cannot be 1.1"),
        ({"steering": Steering(every=0.0)}, "interval of steering cannot be 0"),
        ({"steering": Steering(strength=nan)}, "strength of steering cannot be nan"),
        ({"steering": Steering(particles=2, rewards=())}, "needs a reward"),
        ({"steering": Steering(particles=2, start=0.9)}, "cannot stop before it starts"),
        (
            {
                "steering": Steering(particles=2),
                "capture": CaptureSettings(detail=AttentionDetail.EVERY_WORD),
            },
            "while particles are steered",
        ),
        (
            {
                "steering": Steering(particles=2),
                "scene": replace(scene_of(), mentions=(), relations=()),
            },
            "at least one object",
        ),
        (
            {"search": NoiseSearch(candidates=2), "scene": replace(scene_of(), relations=())},
            "at least one relation",
        ),
        (
            {
                "savings": (Saving.SEARCH,),
                "capture": CaptureSettings(detail=AttentionDetail.EVERYTHING),
            },
            "Layers cannot be recorded during a search",
        ),
        (
            {
                "steering": Steering(particles=2),
                "capture": CaptureSettings(self_attention=True),
            },
            "Layers cannot be recorded while particles are steered",
        ),
        ({"search": NoiseSearch(enough=-0.5)}, "PSE that ends the search cannot be -0.5"),
        ({"capture": CaptureSettings(attention_every=-1)}, "recorded attention cannot be -1"),
        ({"capture": CaptureSettings(preview_every=-2)}, "previews cannot be -2"),
        (guided(strength=-1.0), "strength -1"),
        (guided(strength=inf), "strength inf"),
        (guided(goal=0.5), "PoS of 0.5"),
        (guided(goal=1.1), "PoS of 1.1"),
        (guided(decay=0.0), "factor of 0"),
        (guided(decay=nan), "factor of nan"),
        (guided(first_step=-1), "first guided step cannot be -1"),
        (guided(last_step=-2), "number of guided steps cannot be -1"),
        (guided(every=0), "interval of guided steps cannot be 0"),
        (guided(inner_updates=0), "updates per step cannot be 0"),
        (guided(most_refinements=0), "refinements cannot be 0"),
        (guided(refinements=(Refinement(step=0, presence=2.0),)), "target presence cannot be 2"),
        (presence(presence_weight=-0.1), "Presence weight cannot be -0.1"),
        (presence(presence_weight="much"), "Presence weight cannot be 'much'"),
        (presence(margin=1), 'has no option "margin"'),
        (guided(method_id="magic"), '"magic" is not known'),
        (guided(mention_weights={"m1": nan}), "mention weight cannot be nan"),
        (guided(target_weight=1.5), "weight of the sketched places cannot be 1.5"),
        (guided(targets=(at("m1", x=nan),)), "sketched place cannot be nan"),
        (guided(targets=(at("m1", size=0.0),)), "sketched size cannot be 0"),
        ({"repair": repair()}, "0 regions cannot be redrawn"),
        ({"repair": repair(*[HALF] * 17)}, "17 regions cannot be redrawn"),
        ({"repair": repair(replace(HALF, x=0.6))}, "outside the picture"),
        ({"repair": repair(replace(HALF, y=-0.1))}, "outside the picture"),
        ({"repair": repair(replace(HALF, height=nan))}, "outside the picture"),
        ({"repair": repair(replace(HALF, width=0.01))}, "too small"),
        ({"repair": repair(HALF, feather=nan)}, "cannot fade over nan"),
        (guided(targets=(at("m9"),)), '"m9" that the prompt does not mention'),
        (guided(targets=(at("m1"), at("m1"))), "places an object twice"),
    ],
    ids=str,
)
def test_an_invalid_request_is_rejected_with_a_hint(faulty, told):
    with pytest.raises(RequestError, match=told) as refusal:
        check_request(with_values(GOOD, **faulty), STICKERS)
    assert refusal.value.hint


OWN, OTHER = "DDPMScheduler", "DDIMScheduler"


def test_a_model_accepts_only_its_own_samplers():
    model = replace(STICKERS, samplers=(OWN, OTHER))
    for sampler in ("", OWN, OTHER):
        check_request(with_values(GOOD, scheduler_id=sampler), model)
    with pytest.raises(RequestError, match="the sampler Heun") as refusal:
        check_request(with_values(GOOD, scheduler_id="HeunDiscreteScheduler"), model)
    assert refusal.value.hint == "Choose DDPM, DDIM."


def test_unknown_properties_of_a_model_are_left_to_its_backend():
    unknown = replace(STICKERS, samplers=())
    check_request(with_values(GOOD, scheduler_id="HeunDiscreteScheduler"), unknown)
