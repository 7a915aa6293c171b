"""PyTorch op by op, with its own fused operators where it has them: AdamW, layer norm, softmax, cross-entropy."""
import torch

import torch_graphs
from graphs import BETA1, BETA2, DECAY, EPSILON, LR, STEP


def poly(ins, outs):
    (a, b, c), (y,) = ins, outs

    def run():
        torch.mul(a, 2, out=y)
        y.add_(b, alpha=3)
        return y.addcmul_(c, c, value=-1)
    return run


def adamw_many(ins, outs):
    n = len(ins) // 4
    p, g, m, v = (list(ins[k * n:(k + 1) * n]) for k in range(4))
    steps = [torch.tensor(float(STEP))] * n

    def run():
        torch._fused_adamw_(p, g, m, v, [], steps, lr=LR, beta1=BETA1, beta2=BETA2, weight_decay=DECAY, eps=EPSILON,
                            amsgrad=False, maximize=False)
        return p + m + v
    return run


def into(function):
    """A function that takes `out`."""
    def make(ins, outs):
        return lambda: function(*ins, out=outs[0])
    return make


OWN = {
    "poly": poly,
    "adamw": adamw_many,
    "adamw_many": adamw_many,
    "softmax": into(lambda x, out: torch.softmax(x, -1, out=out)),
    "cumsum": into(lambda x, out: torch.cumsum(x, 0, out=out)),
    "transpose_add": into(lambda a, b, out: torch.add(b.T, a, alpha=2, out=out)),
}


class Contestant:
    version = torch.__version__

    def __init__(self):
        torch.set_num_threads(1)
        torch.set_grad_enabled(False)

    def prepare(self, graph, inputs, outputs):
        ins, outs = [torch.from_numpy(a) for a in inputs], [torch.from_numpy(a) for a in outputs]
        if graph.kind in OWN:
            return OWN[graph.kind](ins, outs), torch_graphs.fetch
        function = getattr(torch_graphs, graph.kind)
        return lambda: function(*ins), torch_graphs.fetch
