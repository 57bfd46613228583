"""Small random graphs of prompts and pictures, and a brute-force edit distance."""

from dataclasses import replace
from itertools import product

from spatialstudio.domain.graph_match import GraphObject, GraphRelation, ObjectGraph
from spatialstudio.domain.scene import relation_types

PREDICATES = ("left_of", "right_of", "above", "below", "above_left_of", "near", "far_from")
HELD = ("left_of", "right_of", "above", "below", "near", "far_from")


def thing(name, kind, *attributes, **more):
    return GraphObject(id=name, kind=kind, attributes=frozenset(attributes), **more)


def related(one, predicate, other):
    return GraphRelation(subject=one, object=other, relation_type=predicate)


def both_ways(*relations):
    """Relations with their inverses, as a picture's graph lists them."""
    inverse = [
        related(each.object, relation_types[each.relation_type].inverse_id, each.subject)
        for each in relations
    ]
    return tuple(dict.fromkeys((*relations, *inverse)))


def random_graph(rng, count, predicates, kinds=("dog", "cup"), is_picture=False):
    """A graph of `count` objects of few classes, so that many matchings are possible."""
    things = tuple(
        thing(
            f"{'p' if is_picture else 't'}{place}",
            str(rng.choice(kinds)),
            *[word for word in ("red", "big") if rng.random() < 0.4],
            is_foreground=bool(rng.random() < 0.7),
        )
        for place in range(count)
    )
    relations = [
        related(one.id, str(rng.choice(predicates)), other.id)
        for one, other in product(things, things)
        if one is not other and rng.random() < (0.5 if is_picture else 0.3)
    ]
    return ObjectGraph(objects=things, relations=tuple(dict.fromkeys(relations)))


def picture_of(target):
    """The picture that shows a target graph and nothing else."""
    renamed = {each.id: f"p.{each.id}" for each in target.objects}
    return ObjectGraph(
        objects=tuple(replace(each, id=renamed[each.id]) for each in target.objects),
        relations=both_ways(
            *(
                replace(each, subject=renamed[each.subject], object=renamed[each.object])
                for each in target.relations
            )
        ),
    )


def least_cost(costs):
    """The smallest cost over every matching of every object, by trying all."""
    places = (None, *range(len(costs.picture.objects)))
    matchings = product(places, repeat=len(costs.target.objects))
    return min(costs.total(each) for each in matchings if is_matching(each))


def is_matching(assignment):
    used = [place for place in assignment if place is not None]
    return len(used) == len(set(used))
