"""An adapter around a linear layer, as packages for fine-tuning put it in place of the layer."""
from torch import nn


class Adapter(nn.Module):
    """A frozen layer plus a low-rank layer, with the attributes `weight` and `bias` of the frozen layer."""

    def __init__(self, base):
        super().__init__()
        self.base = base.requires_grad_(False)
        self.down = nn.Linear(base.in_features, 2, bias=False)
        self.up = nn.Linear(2, base.out_features, bias=False)

    weight = property(lambda self: self.base.weight)
    bias = property(lambda self: self.base.bias)

    def forward(self, x):
        return self.base(x) + self.up(self.down(x))
