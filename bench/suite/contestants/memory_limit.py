"""A loop that reads and writes the arrays of the graph and does nothing else. It is the one contestant whose outputs
are not checked: there are none."""
from contestants.hand_written import caller, load, streams


class Contestant:
    unchecked = True

    def __init__(self):
        self.library = load()

    def prepare(self, graph, inputs, outputs):
        groups = len(inputs) // 4 if graph.kind == "adamw_many" else 1
        extents = [groups, len(inputs) // groups, len(outputs) // groups, *(a.nbytes for a in inputs + outputs)]
        call = caller(self.library.memory_limit, inputs, outputs, extents, streams(graph, inputs, outputs))
        return call, lambda result: []
