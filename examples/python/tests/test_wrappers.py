"""Tests modules inside wrappers of other libraries: PEFT's LoRA, DDP and FSDP2.  Each is compared with plain PyTorch,
which computes the same equations by einsum and calls every projection."""
import copy

import pytest
import torch
from torch import distributed, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel

from triad_torch import EdgeTransformerLayer, TriangularAttention
from triad_torch._formulas import EinsumAttention

WIDTH, HEADS = 16, 2


class Pair(nn.Module):
    """Two layers and a readout of the edge (0, 1)."""

    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(*(EdgeTransformerLayer(WIDTH, HEADS) for _ in range(2)))
        self.readout = nn.Linear(WIDTH, 3)

    def forward(self, x):
        return self.readout(self.layers(x)[:, 0, 1])


def in_plain_pytorch(model):
    """Returns a copy of the model, in which plain PyTorch computes every TriangularAttention."""
    model = copy.deepcopy(model)
    for module in list(model.modules()):
        for name, child in list(module.named_children()):
            if isinstance(child, TriangularAttention):
                setattr(module, name, EinsumAttention(child))
    return model


def train(model, batches, whole=lambda t: t):
    """Makes steps of SGD.  Returns the outputs, then the changed parameters by name."""
    optimizer = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], 0.05)
    outputs = []
    for x in batches:
        y = model(x)
        optimizer.zero_grad()
        y.square().mean().backward()
        optimizer.step()
        outputs.append(y.detach())
    return outputs, {name: whole(p.detach()) for name, p in model.named_parameters() if p.requires_grad}


def assert_same_training(ours, theirs):
    for a, b in zip(ours[0], theirs[0], strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-6)
    assert len(ours[1]) == len(theirs[1]) > 0
    for a, b in zip(ours[1].values(), theirs[1].values(), strict=True):
        assert torch.allclose(a, b, rtol=0, atol=1e-6)


def batches():
    return [torch.randn(2, 5, 5, WIDTH) for _ in range(3)]


@pytest.fixture
def one_process(tmp_path):
    distributed.init_process_group("gloo", init_method=f"file://{tmp_path}/meeting", rank=0, world_size=1)
    yield
    distributed.destroy_process_group()


def test_lora_of_peft_trains_as_in_plain_pytorch():
    peft = pytest.importorskip("peft")
    model, data = Pair(), batches()
    before = model(data[0]).detach()
    projections = r".*edge_attention\.linears\.\d"
    adapted = peft.LoraConfig(r=2, lora_alpha=4, target_modules=projections, init_lora_weights=False)
    ours = peft.get_peft_model(copy.deepcopy(model), adapted)
    theirs = peft.get_peft_model(in_plain_pytorch(model), adapted)
    theirs.load_state_dict(ours.state_dict())
    assert not torch.allclose(ours(data[0]), before, atol=1e-4)
    first = {name: p.detach().clone() for name, p in ours.named_parameters() if p.requires_grad}
    trained = train(ours, data)
    assert_same_training(trained, train(theirs, data))
    assert len(first) == 2 * 5 * 2 and all("lora_" in name for name in first)
    assert all(not torch.equal(first[name], trained[1][name]) for name in first)
    with torch.no_grad():
        adapted_output = ours(data[0])
        assert torch.allclose(ours.merge_and_unload()(data[0]), adapted_output, atol=1e-5)


def test_data_parallel_training_is_that_of_plain_pytorch(one_process):
    model, data = Pair(), batches()
    theirs = train(in_plain_pytorch(model), data)
    assert_same_training(train(DistributedDataParallel(model), data), theirs)


def test_sharded_training_is_that_of_plain_pytorch(one_process):
    """FSDP2 gathers the weights of a layer before the layer is called."""
    model, data = Pair(), batches()
    theirs = train(in_plain_pytorch(model), data)
    mesh = init_device_mesh("cpu", (1,))
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    assert_same_training(train(model, data, lambda p: p.full_tensor()), theirs)
