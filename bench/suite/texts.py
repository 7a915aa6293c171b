"""The graphs of the suite in Ingot's text form, with symbolic extents wherever the graph allows any size."""


def graph(name, inputs, outputs, *lines, where=""):
    body = "\n".join("  " + line for line in lines)
    return f"ingot 1.0\ngraph @{name}({inputs}) -> ({outputs}){where} {{\n{body}\n}}\n"


poly = graph("poly", "%a: f32[N], %b: f32[N], %c: f32[N]", "f32[N]",
             "%0 = mul %a, 2.0", "%1 = mul %b, 3.0", "%2 = add %0, %1", "%3 = mul %c, %c", "%4 = sub %2, %3",
             "return %4")

swiglu = graph("swiglu", "%g: f32[N], %u: f32[N]", "f32[N]", "%0 = silu %g", "%1 = mul %0, %u", "return %1")

softmax = graph("softmax", "%x: f32[B, N]", "f32[B, N]", "%0 = softmax %x {axis = 1}", "return %0")

masked_softmax = graph("masked_softmax", "%x: f32[B, N], %mask: f32[B, N]", "f32[B, N]",
                       "%0 = mul %x, 0.125", "%1 = add %0, %mask", "%2 = softmax %1 {axis = 1}", "return %2")

layer_norm = graph("layer_norm", "%x: f32[B, N], %scale: f32[N], %bias: f32[N]", "f32[B, N]",
                   "%0 = layer_norm %x, %scale, %bias {axis = -1, epsilon = 1e-5}", "return %0",
                   where=" where N >= 1")

transpose_add = graph("transpose_add", "%a: f32[N, N], %b: f32[N, N]", "f32[N, N]",
                      "%0 = mul %a, 2.0", "%1 = transpose %b {perm = [1, 0]}", "%2 = add %0, %1", "return %2")

column_sums = graph("column_sums", "%a: f32[B, N], %b: f32[B, N]", "f32[N]",
                    "%0 = mul %a, %b", "%1 = reduce_sum %0 {axes = [0]}", "return %1")

mse = graph("mse", "%a: f32[N], %b: f32[N]", "f32[]",
            "%0 = sub %a, %b", "%1 = mul %0, %0", "%2 = reduce_mean %1 {axes = [0]}", "return %2")

black_scholes = graph(
    "black_scholes", "%spot: f32[N], %strike: f32[N], %years: f32[N]", "f32[N], f32[N]",
    "%ratio = div %spot, %strike", "%logs = log %ratio", "%drift = mul %years, 0.065",
    "%drifted = add %logs, %drift", "%root = sqrt %years", "%deviation = mul %root, 0.3",
    "%d1 = div %drifted, %deviation", "%d2 = sub %d1, %deviation",
    "%s1 = mul %d1, 0.70710678", "%e1 = erf %s1", "%p1 = add %e1, 1.0", "%n1 = mul %p1, 0.5",
    "%s2 = mul %d2, 0.70710678", "%e2 = erf %s2", "%p2 = add %e2, 1.0", "%n2 = mul %p2, 0.5",
    "%exponent = mul %years, -0.02", "%discount = exp %exponent", "%present = mul %strike, %discount",
    "%gain = mul %spot, %n1", "%cost = mul %present, %n2", "%call = sub %gain, %cost",
    "%parity = sub %call, %spot", "%put = add %parity, %present", "return %call, %put")

rope = graph("rope", "%x: f32[S, H, D], %cos: f32[S, 1, E], %sin: f32[S, 1, E]", "f32[S, H, D]",
             "%0 = rope %x, %cos, %sin", "return %0", where=" where D == 2*E")

cross_entropy = graph("cross_entropy", "%x: f32[B, C], %labels: i64[B]", "f32[]",
                      "%0 = cross_entropy %x, %labels", "return %0")

batch_statistics = graph("batch_statistics", "%x: f32[B, N]", "f32[N], f32[N]",
                         "%0 = reduce_mean %x {axes = [0]}", "%1 = reduce_var %x {axes = [0]}", "return %0, %1")

quantize = graph("quantize", "%x: f32[B, N], %scale: f32[B]", "i8[B, N]",
                 "%zero = constant 0 : i8[]", "%0 = quantize %x, %scale, %zero {axis = 0}", "return %0")

dequantize = graph("dequantize", "%q: i8[B, N], %scale: f32[B]", "f32[B, N]",
                   "%zero = constant 0 : i8[]", "%0 = dequantize %q, %scale, %zero {axis = 0}", "return %0")

argmax_max = graph("argmax_max", "%x: f32[B, N]", "i64[B], f32[B]",
                   "%0 = argmax %x {axis = 1}", "%1 = reduce_max %x {axes = [1]}", "return %0, %1")

cumsum = graph("cumsum", "%x: f32[N]", "f32[N]", "%0 = cumsum %x {axis = 0}", "return %0")


def bias_gelu(approximate):
    return graph("bias_gelu", "%x: f32[B, N], %bias: f32[N]", "f32[B, N]",
                 "%0 = add %x, %bias", f'%1 = gelu %0 {{approximate = "{approximate}"}}', "return %1")


CHAIN = ("mul %{0}, 0.75", "add %{0}, %x", "max %{0}, -1.5", "sub %{0}, 0.125")


def chain(ops, which=lambda i: i % 4):
    """`ops` elementwise ops, one after the other; `which` tells which of the four op number i is."""
    lines, value = [], "x"
    for i in range(ops):
        lines.append(f"%v{i} = " + CHAIN[which(i)].format(value))
        value = f"v{i}"
    return graph("chain", "%x: f32[N]", "f32[N]", *lines, f"return %{value}")


def mixed(ops):
    """A chain without a period, so that no two kernels it falls into are the same."""
    return chain(ops, lambda i: (i * 2654435761 >> 13) % 4)


chain64 = chain(64)


def adamw(tensors):
    """One step of `tensors` parameters: inputs all p, all g, all m, all v, outputs all p, all m, all v."""
    inputs = ", ".join(f"%{name}{i}: f32[N{i}]" for name in "pgmv" for i in range(tensors))
    outputs = ", ".join(f"f32[N{i}]" for _ in "pmv" for i in range(tensors))
    lines = []
    for i in range(tensors):
        lines += [line.replace("#", str(i)) for line in (
            "%mk# = mul %m#, 0.9", "%ma# = mul %g#, 0.1", "%mn# = add %mk#, %ma#",
            "%vk# = mul %v#, 0.999", "%gg# = mul %g#, %g#", "%va# = mul %gg#, 0.001", "%vn# = add %vk#, %va#",
            "%mh# = div %mn#, 0.6513215599", "%vh# = div %vn#, 0.00995511979025",
            "%root# = sqrt %vh#", "%safe# = add %root#, 1e-8", "%to# = div %mh#, %safe#",
            "%d# = mul %p#, 0.01", "%all# = add %to#, %d#", "%step# = mul %all#, 0.001",
            "%pn# = sub %p#, %step#")]
    names = ", ".join(f"%{name}n{i}" for name in "pmv" for i in range(tensors))
    return graph("adamw", inputs, outputs, *lines, f"return {names}")
