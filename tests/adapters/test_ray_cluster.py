"""Room for processes on a Ray cluster, and messages without Ray."""

import sys

import pytest

from spatialstudio.adapters.cluster.ray_cluster import RayCluster, room, usual_count
from spatialstudio.domain.cluster import ProcessPlan
from spatialstudio.domain.errors import ClusterError

GPU_MACHINES = ({"CPU": 16.0, "GPU": 2.0}, {"CPU": 3.0, "GPU": 4.0})
PLAIN_MACHINES = ({"CPU": 8.0}, {"CPU": 5.0})


@pytest.mark.parametrize(
    ("machines", "usual", "most"), [(GPU_MACHINES, 6, 3), (PLAIN_MACHINES, 2, 3)]
)
def test_processes_are_counted_by_gpus_and_cores_of_each_machine(machines, usual, most):
    has_gpus = any("GPU" in each for each in machines)
    assert usual_count(machines) == usual
    assert room(machines, 4 if not has_gpus else 2, has_gpus=has_gpus) == most


def test_without_ray_the_error_says_how_to_install_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(ClusterError, match="not installed") as caught:
        RayCluster().open("", ProcessPlan(make=dict))
    assert "spatialstudio[cluster]" in caught.value.hint


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1", "127.0.0.1:99999999"])
def test_an_address_without_a_cluster_is_named_at_once(address):
    with pytest.raises(ClusterError, match="no Ray cluster"):
        RayCluster().open(address, ProcessPlan(make=dict))
