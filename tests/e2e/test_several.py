"""Several answers to one prompt: run --samples and run --beams."""
import unittest

from program import MODEL, call, kvik, run_ids

IDS = [504, 3575, 282, 4649, 314]


class Samples(unittest.TestCase):
    def test_are_those_of_their_seeds(self):
        several = run_ids(IDS, "-n", 12, "--seed", 3, "--samples", 3, "--logits-hash")
        self.assertEqual([s["seed"] for s in several["samples"]], [3, 4, 5])
        for sample in several["samples"]:
            alone = run_ids(IDS, "-n", 12, "--seed", sample["seed"], "--logits-hash")
            for key in ("ids", "text", "logprobs", "finish_reason", "logits_sha256"):
                self.assertEqual(sample[key], alone[key])
        for key in ("ids", "text", "logprobs", "finish_reason", "logits_sha256"):
            self.assertEqual(several[key], several["samples"][0][key])
        self.assertLessEqual(several["kv"]["blocks_shared"], several["kv"]["blocks_copied"])

    def test_are_told_one_after_the_other(self):
        story = "Once upon a time, " * 20  # longer than a block, so that there is one to share
        done = call("run", MODEL, "--raw", story, "-n", 8, "--samples", 2, "--seed", 9)
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[0], "--- answer 1 of 2, seed 9 ---")
        self.assertIn("--- answer 2 of 2, seed 10 ---", lines)
        self.assertRegex(done.stderr, r"kvik: 2 answers held \d+ blocks of KV \(\d+\.\d MiB\), "
                                      r"2 copies would have held \d+\n")
        text = kvik("run", MODEL, "--raw", story, "-n", 8, "--seed", 10)
        self.assertTrue(done.stdout.endswith("seed 10 ---\n" + text))


class Beams(unittest.TestCase):
    def test_are_scored_and_come_best_first(self):
        told = run_ids(IDS, "-n", 12, "--beams", 4, "--logits-hash")
        beams = told["beams"]
        self.assertEqual(len(beams), 4)
        scores = [beam["score"] for beam in beams]
        self.assertEqual(scores, sorted(scores, reverse=True))
        for beam in beams:
            self.assertEqual(len(beam["ids"]), 12)
            self.assertAlmostEqual(beam["sum_logprob"], sum(beam["logprobs"]), places=4)
            self.assertAlmostEqual(beam["score"], beam["sum_logprob"] / 12, places=12)
        for key in ("ids", "text", "logprobs", "finish_reason", "logits_sha256"):
            self.assertEqual(told[key], beams[0][key])
        self.assertGreater(told["kv"]["blocks_copied"], 0)

    def test_rank_by_the_length_penalty_that_is_asked_for(self):
        told = run_ids(IDS, "-n", 12, "--beams", 3, "--length-penalty", 0.5)
        for beam in told["beams"]:
            self.assertAlmostEqual(beam["score"], beam["sum_logprob"] / 12 ** 0.5, places=9)

    def test_are_greedy_where_there_is_one(self):
        beam = run_ids(IDS, "-n", 12, "--beams", 1, "--logits-hash")
        greedy = run_ids(IDS, "-n", 12, "--temp", 0, "--logits-hash")
        for key in ("ids", "text", "logprobs", "finish_reason", "logits_sha256"):
            self.assertEqual(beam[key], greedy[key])


class Refusals(unittest.TestCase):
    def refused(self, *arguments):
        done = call("run", MODEL, "--raw", "hi", *arguments)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        return done.stderr

    def test_of_flags_that_do_not_go_together(self):
        self.assertIn("--samples or --beams, not both", self.refused("--samples", 2, "--beams", 2))
        self.assertIn("--length-penalty needs --beams", self.refused("--length-penalty", 2))
        self.assertIn("penalties", self.refused("--beams", 2, "--repeat-penalty", 1.1))

    def test_of_values_out_of_range(self):
        self.assertIn("0", self.refused("--samples", 0))
        self.assertIn("--length-penalty 11 is not in -10 .. 10",
                      self.refused("--beams", 2, "--length-penalty", 11))
        self.assertIn("is not a number", self.refused("--beams", 2, "--length-penalty", "x"))


if __name__ == "__main__":
    unittest.main()
