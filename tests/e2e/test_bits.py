"""The same bits whichever way: chunks, threads, instruction sets, KV that was found or computed."""
import unittest

from program import GEMMA, MODEL, golden, isas, run_ids

SAMPLED = ("--temp", 0.8, "--seed", 7, "--logits-hash")


def outcome(result):
    """All that must not depend on the way."""
    return result["ids"], result["logprobs"], result["logits_sha256"], result["text"]


class SameBits:
    model = ""

    def ids(self, n):
        return golden(self.model)["texts"]["russian"]["ids"][:n]

    def run_model(self, n_ids, *arguments, env=None):
        return run_ids(self.ids(n_ids), *arguments, env=env, model=self.model)

    def assert_same(self, ways, n_ids, n_new):
        """ways: (what `used` must show, arguments, environment). All give one outcome."""
        first = None
        for (key, value), arguments, env in ways:
            got = self.run_model(n_ids, "-n", n_new, *SAMPLED, *arguments, env=env)
            with self.subTest(**{key: value}):
                self.assertEqual(str(got["used"][key]), str(value))
                self.assertRegex(got["logits_sha256"], "^[0-9a-f]{64}$")
                self.assertEqual(len(got["ids"]), n_new)
                first = first or outcome(got)
                self.assertEqual(outcome(got), first)
        return first

    def test_for_any_chunking_of_the_prompt(self):
        self.assert_same([(("ubatch", n), ("--ubatch", n), None) for n in (512, 128, 33, 7)],
                         400, 12)

    def test_for_chunks_that_straddle_a_window_of_512(self):
        self.assert_same([(("ubatch", n), ("--ubatch", n), None) for n in (512, 200, 100)], 700, 6)

    def test_token_by_token_too(self):
        self.assert_same([(("ubatch", n), ("--ubatch", n), None) for n in (512, 1)], 120, 6)

    def test_for_any_number_of_threads(self):
        self.assert_same([(("threads", n), ("--threads", n), None) for n in (1, 2, 3)], 200, 8)

    def test_for_every_instruction_set_with_8_bit_activations(self):
        self.assert_same([(("isa", isa), (), {"KVIK_ISA": isa}) for isa in isas()], 48, 6)

    def test_for_every_instruction_set_with_float_activations(self):
        self.assert_same([(("isa", isa), (), {"KVIK_ISA": isa, "KVIK_ACT": "f32"})
                          for isa in isas()], 48, 6)

    def test_for_every_instruction_set_with_float_kv(self):
        self.assert_same([(("isa", isa), ("--kv", "f32"), {"KVIK_ISA": isa}) for isa in isas()],
                         48, 6)

    def test_for_every_instruction_set_with_8_bit_kv(self):
        self.assert_same([(("isa", isa), ("--kv", "q8"), {"KVIK_ISA": isa}) for isa in isas()],
                         48, 6)

    def test_for_chunks_threads_and_blocks_with_8_bit_kv(self):
        self.assert_same([(("ubatch", n), ("--kv", "q8", "--ubatch", n, "--threads", threads,
                                           "--block", block), None)
                          for n, threads, block in ((512, 1, 32), (100, 2, 16), (7, 3, 64))],
                         300, 6)

    def test_prompt_lengths_around_a_block_and_a_chunk(self):
        for n_ids in (1, 15, 16, 17, 31, 32, 33, 255, 256, 257):
            self.assert_same([(("ubatch", n), ("--ubatch", n), None) for n in (512, 32)], n_ids, 3)

    def test_the_hash_tells_prompts_apart(self):
        one = self.run_model(48, "-n", 6, *SAMPLED)
        other = self.run_model(49, "-n", 6, *SAMPLED)
        self.assertNotEqual(one["logits_sha256"], other["logits_sha256"])

    def test_the_seed_decides_and_nothing_else(self):
        def draw(seed):
            return self.run_model(48, "-n", 24, "--temp", 1, "--min-p", 0, "--seed", seed)["ids"]
        self.assertEqual(draw(1), draw(1))
        self.assertNotEqual(draw(1), draw(2))


class SameBitsOfSmollm2(SameBits, unittest.TestCase):
    model = MODEL


class SameBitsOfGemma3(SameBits, unittest.TestCase):
    model = GEMMA


if __name__ == "__main__":
    unittest.main(verbosity=2)
