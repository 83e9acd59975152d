# SPDX-FileCopyrightText: 2026 The Rondo authors
# SPDX-License-Identifier: Apache-2.0
"""Graphs built in Python: what is refused, and with which words; what a task computes."""

import unittest

import numpy as np

import rondo
import rondo_kernels  # noqa: F401  registers its kernels
import rondo_test_kernels as kernels


class GraphTest(unittest.TestCase):
    def refuses(self, code, words, call, *args, **kwargs):
        with self.assertRaisesRegex(rondo.Error, words) as raised:
            call(*args, **kwargs)
        self.assertEqual(raised.exception.code, code)

    def test_kernels_are_known_by_the_name_that_their_type_has(self):
        self.assertEqual(rondo.kernels()["saxpy"], "vector: In[float32], InOut[float32], float32")
        self.assertEqual(rondo.kernels()["matmul"], "cube: In[float32, 2], In[float32, 2], Out[float32, 2]")

    def test_a_second_kernel_of_a_name_is_refused(self):
        self.refuses(rondo.Errc.invalid_argument, "a kernel 'add' already", kernels.register_another_add)

    def test_a_kernel_compiled_against_another_rondo_is_refused(self):
        self.refuses(rondo.Errc.invalid_argument, "another Rondo", rondo._register, kernels.foreign_record())

    def test_a_tensor_tells_what_it_is(self):
        graph = rondo.Graph()
        tensor = graph.workspace("w", np.int16, (2, 3))
        self.assertEqual((tensor.name, tensor.dtype, tensor.shape, tensor.direction), ("w", "int16", (2, 3), "workspace"))
        self.assertEqual([repr(t) for t in graph.tensors], [repr(tensor)])
        self.assertEqual(repr(tensor.reshape(6)), "<rondo.Tensor 'w' workspace int16(6,)>")

    def test_types_come_by_name_or_as_numpy_has_them(self):
        graph = rondo.Graph()
        for n, (dtype, name) in enumerate(
            [
                (np.float16, "float16"),
                ("bfloat16", "bfloat16"),
                (np.dtype("u8"), "uint64"),
                (bool, "bool"),
                (np.complex64, "complex64"),
            ]
        ):
            self.assertEqual(graph.input(f"x{n}", dtype, 4).dtype, name)
        self.refuses(rondo.Errc.invalid_argument, "elements of type 'object'", graph.input, "y", np.object_, 4)

    def test_what_the_graph_refuses_arrives_with_its_code_and_leaves_the_graph_as_it_was(self):
        graph = rondo.Graph()
        x = graph.input("x", np.float32, 4)
        y = graph.output("y", np.float32, 4)
        other = rondo.Graph()
        other.input("a", np.float32, 4)
        foreign = other.output("b", np.float32, 4)
        invalid = rondo.Errc.invalid_argument
        self.refuses(invalid, "'x' is already there", graph.input, "x", np.float32, 4)
        self.refuses(invalid, "extent 0 is zero", graph.input, "z", np.float32, 0)
        self.refuses(invalid, "6 dimensions", graph.input, "z", np.float32, (1,) * 6)
        self.refuses(rondo.Errc.overflow, "2\\^63 bytes", graph.input, "z", np.float32, (2**40, 2**40))
        self.refuses(invalid, "no kernel 'sub'", graph.add, "sub", x, y)
        self.refuses(invalid, "takes 3 arguments .*InOut.* 2 were given", graph.add, "saxpy", x, y)
        self.refuses(invalid, "writes argument 1, and tensor 'x' is an input", graph.add, "relu", x, x)
        self.refuses(invalid, "takes float16 as argument 0, and tensor 'x' holds float32", graph.add, "copy_float16", x, y)
        self.refuses(invalid, "takes a scalar as argument 2", graph.add, "saxpy", x, y, x)
        self.refuses(invalid, "of another graph", graph.add, "relu", x, foreign)
        self.refuses(invalid, "2 dimensions, but 'x' has 1", graph.add, "matmul", x, x, y)
        self.refuses(rondo.Errc.wrong_size, "does not hold its 4", graph.add, "relu", x.reshape((5, 1)), y)
        for shape, words in ((1,) * 6, "6 dimensions"), ((1,) * 5000, "5000 dimensions"), ((-2, -2), "below 1"):
            self.refuses(invalid, words, x.reshape, shape)
        self.refuses(invalid, "0 blocks", graph.add, "relu", x, y, blocks=0)
        self.refuses(invalid, "there is no task 7", graph.add_edge, 7, 0)
        self.refuses(invalid, "edges are", rondo.Graph, edges="none")
        with self.assertRaisesRegex(TypeError, "takes a tensor of the graph as argument 0"):
            graph.add("relu", np.zeros(4), y)
        self.assertEqual(len(graph), 0)
        self.assertEqual(graph.add("relu", x, y), 0)
        self.assertEqual(len(graph), 1)

    def test_what_is_refused_adds_no_symbol(self):
        graph = rondo.Graph()
        x, y, flag = graph.declare("x: in f32[4], y: out f32[4], flag: workspace i32[1]")
        invalid = rondo.Errc.invalid_argument
        self.refuses(invalid, "writes argument 1", graph.add, "relu", x, x, blocks="a")
        self.refuses(invalid, "-1 blocks; choose from 1 to 4294967295", graph.add, "relu", x, y, blocks=-1)
        self.refuses(invalid, "4294967296 blocks", graph.add, "relu", x, y, blocks=2**32)
        self.refuses(invalid, "integer or bool", graph.repeat_until, y, "b", lambda: graph.add("relu", x, y))
        with self.assertRaises(KeyError):
            graph.repeat_until(flag, "c", lambda: {}["nothing"])
        self.assertEqual(len(graph), 0)
        graph.add("relu", x, y)
        # A symbol that no array has would be asked for here.
        session, result = rondo.Session(graph), np.zeros(4, np.float32)
        session.run_round(x=np.ones(4, np.float32), y=result)
        self.assertEqual(result.sum(), 4)

    def test_extents_are_whole_numbers_of_any_type(self):
        graph = rondo.Graph()
        for number, shape in enumerate((4, np.int64(4), (np.int32(4),), np.array([4]), [4])):
            self.assertEqual(graph.input(f"x{number}", np.float32, shape).shape, (4,))
        for shape in 4.0, (4.0,), (None,):
            with self.assertRaises(TypeError):
                graph.input("y", np.float32, shape)
        with self.assertRaises(OverflowError):
            graph.input("y", np.float32, (2**63,))
        self.assertEqual(len(graph.tensors), 5)

    def test_a_shape_may_be_any_iterable(self):
        graph = rondo.Graph()
        self.assertEqual(graph.input("x", "float32", (n for n in (4, 8))).shape, (4, 8))
        self.assertEqual(graph.input("y", "float32", iter(["n", 8])).shape, ("n", 8))

    def test_a_refused_text_is_shown_whatever_its_letters(self):
        for text in ("\u20ac" * 40, "x" + "\u00e9" * 40, "x" * 39 + "\u20ac" * 30):
            self.refuses(rondo.Errc.invalid_argument, "the declaration of tensors", rondo.Graph().declare, text)

    def test_extents_that_share_a_symbol_of_a_kernel_are_compared_also_after_a_symbolic_one(self):
        kernel = rondo.kernel("x: in f32[k], y: in f32[k], z: out f32[k]", lambda x, y, z: None, name="n", quiet=True)
        graph = rondo.Graph()
        tensors = graph.declare("x: in f32[n], y: in f32[4], z: out f32[5]")
        self.refuses(rondo.Errc.wrong_size, "k is 4 in 'y' and 5 in 'z'", graph.add, kernel, *tensors)

    def test_the_body_of_a_loop_cannot_open_its_graph(self):
        for extent in ("4", "n"):
            with self.subTest(extent=extent):
                graph = rondo.Graph()
                x, done = graph.declare(f"x: inout f32[{extent}], done: workspace i32[1]")
                kernel = rondo.kernel("x: inout f32[n], d: out i32[1]", lambda x, d: None, name="n", quiet=True)

                def body(graph=graph, kernel=kernel, x=x, done=done):
                    graph.add(kernel, x, done)
                    session = rondo.Session(graph, "a2a3_sim")
                    session.run_round(x=np.zeros(4, np.float32))

                self.refuses(rondo.Errc.invalid_argument, "the body of a loop freezes", graph.repeat_until, done, 3, body)

    def test_scalars_of_every_kind_arrive_as_they_were(self):
        low = (-128, 0, -(2**63), 0, -7.0, False, -1)
        high = (127, 65535, 2**63 - 1, 2**64 - 1, 7.9, True, 1)
        for scalars in low, high, (np.int8(3), np.uint16(4), np.int64(5), 6, np.float32(7), True, -1):
            graph = rondo.Graph()
            y = graph.output("y", np.int64, 7)
            graph.add("scalars", y, *scalars)
            hy = np.zeros(7, np.int64)
            rondo.Session(graph).run_round(y=hy)
            expected = [int(s) for s in scalars]
            expected[3] = np.array(expected[3], np.uint64).view(np.int64)
            self.assertEqual(hy.tolist(), expected)

    def test_a_scalar_that_does_not_fit_is_refused(self):
        graph = rondo.Graph()
        y = graph.output("y", np.int64, 7)
        good = [1, 2, 3, 4, 5.0, True, 1]
        for n, value in [(0, 128), (0, -129), (1, -1), (1, 65536), (2, 2**63), (3, -1), (3, 2**64), (6, 200)]:
            bad = good[:n] + [value] + good[n + 1 :]
            self.refuses(rondo.Errc.invalid_argument, "does not fit", graph.add, "scalars", y, *bad)
        for n, value in [(0, 1.5), (4, "5"), (5, 1)]:
            with self.assertRaises(TypeError):
                graph.add("scalars", y, *(good[:n] + [value] + good[n + 1 :]))
        z = graph.inout("z", np.float32, 4)
        x = graph.input("x", np.float32, 4)
        self.refuses(rondo.Errc.invalid_argument, "does not fit", graph.add, "saxpy", x, z, 1e39)
        self.assertEqual(len(graph), 0)

    def test_a_chain_over_a_workspace_a_reshape_and_blocks_computes_what_numpy_does(self):
        graph = rondo.Graph()
        x = graph.input("x", np.float32, (5, 4))
        w = graph.input("w", np.float32, 12)
        h = graph.workspace("h", np.float32, (5, 3))
        y = graph.output("y", np.float32, (5, 3))
        graph.add("matmul", x, w.reshape((4, 3)), h, blocks=3)
        graph.add("relu", h, y)
        random = np.random.default_rng(1)
        for platform in list(rondo.platforms())[:4]:
            session = rondo.Session(graph, platform)
            self.assertEqual(session.platform, platform)
            for _ in range(5):
                hx = random.integers(-4, 5, (5, 4)).astype(np.float32)
                hw = random.integers(-4, 5, 12).astype(np.float32)
                hy = np.empty((5, 3), np.float32)
                session.run_round(x=hx, w=hw, y=hy)
                np.testing.assert_array_equal(hy, np.maximum(hx @ hw.reshape(4, 3), 0))

    def test_a_race_of_explicit_edges_is_found_when_the_session_opens(self):
        graph = rondo.Graph(edges="explicit")
        x = graph.input("x", np.float32, 4)
        y = graph.inout("y", np.float32, 4)
        first = graph.add("saxpy", x, y, 1.0)
        second = graph.add("saxpy", x, y, 2.0)
        self.refuses(rondo.Errc.race, "'y'", rondo.Session, graph)
        graph.add_edge(first, second)
        rondo.Session(graph)
        self.refuses(rondo.Errc.invalid_argument, "no platform 'a9'", rondo.Session, graph, "a9")

    def test_a_type_that_the_chip_lacks_is_refused_when_the_session_opens(self):
        graph = rondo.Graph()
        graph.add("copy_fp8e4m3fn", graph.input("x", "fp8e4m3fn", 4), graph.output("y", "fp8e4m3fn", 4))
        self.refuses(rondo.Errc.unsupported, "a2a3 does not support", rondo.Session, graph, "a2a3_sim")
        x, y = np.arange(4, dtype=np.uint8), np.zeros(4, np.uint8)
        rondo.Session(graph, "a5_sim").run_round(x=x, y=y)
        self.assertEqual(y.tolist(), [0, 1, 2, 3])


if __name__ == "__main__":
    unittest.main()
