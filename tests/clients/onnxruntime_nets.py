"""onnxruntime's ROCm provider alone against its CPU provider: a transformer and a convolutional net of random weights."""

import numpy
import onnx
import onnxruntime
from checks import close, each, same
from onnx import TensorProto, helper, numpy_helper

RANDOM = numpy.random.default_rng(49)


class Net:
    """A graph in the making."""

    def __init__(self, inputs, output):
        self.nodes, self.weights, self.count = [], [], 0
        self.inputs = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape) for name, shape in inputs]
        self.output = helper.make_tensor_value_info("output", TensorProto.FLOAT, output)

    def weight(self, value):
        name = f"w{len(self.weights)}"
        self.weights.append(numpy_helper.from_array(numpy.asarray(value), name))
        return name

    def random(self, *shape, scale=None):
        scale = scale or (numpy.prod(shape[1:]) or 1) ** -0.5
        return self.weight((RANDOM.standard_normal(shape) * scale).astype("float32"))

    def __call__(self, kind, *inputs, result=None, **attributes):
        self.count += 1
        result = result or f"n{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [result], **attributes))
        return result

    def bytes(self):
        graph = helper.make_graph(self.nodes, "net", self.inputs, [self.output], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9)
        onnx.checker.check_model(model)
        return model.SerializeToString()


def transformer():
    """Two layers: layer normalization, four heads of attention, a net with GELU."""
    length, width, heads = 24, 64, 4
    net = Net([("input", [2, length, width])], [2, length, width])
    x = "input"
    for _ in range(2):
        y = net("LayerNormalization", x, net.weight(numpy.ones(width, "float32")), net.random(width, scale=0.1))
        parts = []
        for order in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3]):
            part = net("Add", net("MatMul", y, net.random(width, width)), net.random(width, scale=0.1))
            part = net("Reshape", part, net.weight(numpy.array([2, length, heads, width // heads])))
            parts.append(net("Transpose", part, perm=order))
        scores = net("Div", net("MatMul", parts[0], parts[1]), net.weight(numpy.float32((width // heads) ** 0.5)))
        mixed = net("MatMul", net("Softmax", scores, axis=-1), parts[2])
        mixed = net("Reshape", net("Transpose", mixed, perm=[0, 2, 1, 3]), net.weight(numpy.array([2, length, width])))
        x = net("Add", x, net("MatMul", mixed, net.random(width, width)))
        y = net("LayerNormalization", x, net.weight(numpy.ones(width, "float32")), net.random(width, scale=0.1))
        y = net("Add", net("MatMul", y, net.random(width, 4 * width)), net.random(4 * width, scale=0.1))
        erf = net("Erf", net("Div", y, net.weight(numpy.float32(2**0.5))))
        y = net("Mul", net("Mul", y, net("Add", erf, net.weight(numpy.float32(1)))), net.weight(numpy.float32(0.5)))
        x = net("Add", x, net("MatMul", y, net.random(4 * width, width)))
    net("Identity", x, result="output")
    compare("transformer", net, {"input": RANDOM.standard_normal((2, length, width)).astype("float32")})


def convolutional():
    """Convolutions with batch normalization, a residual connection, pooling and a dense layer."""
    net = Net([("input", [2, 3, 32, 32])], [2, 10])

    def convolve(x, inputs, outputs, stride=1, groups=1):
        y = net("Conv", x, net.random(outputs, inputs // groups, 3, 3), net.random(outputs, scale=0.1), strides=[stride] * 2, pads=[1] * 4, group=groups)
        ones = net.weight(numpy.ones(outputs, "float32"))
        return net("BatchNormalization", y, ones, net.random(outputs, scale=0.1), net.random(outputs, scale=0.1), net.weight(RANDOM.uniform(0.5, 2, outputs).astype("float32")))

    x = net("Relu", convolve("input", 3, 16))
    y = net("Relu", convolve(x, 16, 16))
    x = net("Relu", net("Add", x, convolve(y, 16, 16)))
    x = net("MaxPool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net("Relu", convolve(x, 16, 16, groups=16))
    x = net("Relu", convolve(x, 16, 32, stride=2))
    x = net("AveragePool", x, kernel_shape=[2, 2], strides=[2, 2])
    x = net("Flatten", net("GlobalAveragePool", x))
    x = net("Gemm", x, net.random(10, 32), net.random(10), transB=1)
    net("Softmax", x, result="output", axis=-1)
    compare("convolutional net", net, {"input": RANDOM.standard_normal((2, 3, 32, 32)).astype("float32")})


def compare(name, net, inputs):
    model = net.bytes()
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    # The CPU provider takes no node of the first session.
    options.add_session_config_entry("session.disable_cpu_ep_fallback", "1")
    rocm = onnxruntime.InferenceSession(model, options, providers=["ROCMExecutionProvider"])
    same(f"{name}: provider", rocm.get_providers()[0], "ROCMExecutionProvider")
    cpu = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    close(name, rocm.run(None, inputs)[0], cpu.run(None, inputs)[0], 1e-3)


each([transformer, convolutional])
