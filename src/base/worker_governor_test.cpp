#include "base/worker_governor.h"

#include <gtest/gtest.h>

namespace kvik {
namespace {

constexpr uint64_t kMs = 1'000'000;
constexpr uint64_t kSecond = 1000 * kMs;

// A pool whose worker i loses `lost_percent[i]` of its time; runs of 2 ms.
struct Machine {
    WorkerGovernor governor;
    std::vector<uint32_t> lost_percent;
    uint64_t now = 100 * kSecond;

    explicit Machine(uint32_t n) : governor(n), lost_percent(n) {}
    void run_for(uint64_t duration_ns) {
        for (const uint64_t end = now + duration_ns; now < end;) {
            now += 2 * kMs;
            std::vector<uint64_t> lost;
            for (uint32_t i = 0; i < governor.n_active(); ++i)
                lost.push_back(2 * kMs * lost_percent[i] / 100);
            governor.ran(now, 2 * kMs, lost);
        }
    }
    // The time until the next probe is wanted.
    uint64_t patience() {
        const uint64_t start = now;
        while (!governor.wants_probe(now)) run_for(2 * kMs);
        return now - start;
    }
};

}  // namespace

TEST(WorkerGovernor, uses_all_workers_while_none_loses_its_core) {
    Machine machine(4);
    machine.lost_percent = {1, 0, 10, 3};
    machine.run_for(kSecond);
    EXPECT_EQ(machine.governor.n_active(), 4u);
    EXPECT_FALSE(machine.governor.wants_probe(machine.now));
}

TEST(WorkerGovernor, leaves_out_as_many_workers_as_lost_their_cores) {
    Machine machine(4);
    machine.lost_percent = {0, 50, 0, 0};
    machine.run_for(60 * kMs);
    EXPECT_EQ(machine.governor.n_active(), 3u);
}

TEST(WorkerGovernor, keeps_a_worker_that_helps_more_than_it_holds_up) {
    Machine machine(2);
    machine.lost_percent = {5, 35};
    machine.run_for(kSecond);
    EXPECT_EQ(machine.governor.n_active(), 2u);
    machine.lost_percent = {5, 55};
    machine.run_for(120 * kMs);
    EXPECT_EQ(machine.governor.n_active(), 1u);
}

TEST(WorkerGovernor, keeps_one_worker_however_crowded_it_is) {
    Machine machine(3);
    machine.lost_percent = {80, 80, 80};
    machine.run_for(kSecond);
    EXPECT_EQ(machine.governor.n_active(), 1u);
}

TEST(WorkerGovernor, forgives_a_single_loss_among_good_runs) {
    WorkerGovernor governor(2);
    const uint64_t none[] = {0, 0}, some[] = {0, 10 * kMs};
    for (int i = 0; i < 5; ++i) governor.ran(0, 10 * kMs, none);
    governor.ran(0, 20 * kMs, some);
    EXPECT_EQ(governor.n_active(), 2u);
}

TEST(WorkerGovernor, a_single_long_run_is_enough_to_judge) {
    WorkerGovernor governor(2);
    const uint64_t lost[] = {100 * kMs, 150 * kMs};
    governor.ran(300 * kMs, 300 * kMs, lost);
    EXPECT_EQ(governor.n_active(), 1u);
}

TEST(WorkerGovernor, probes_less_and_less_often_while_the_machine_stays_busy) {
    Machine machine(2);
    machine.lost_percent = {60, 60};
    machine.run_for(60 * kMs);
    uint64_t before = 0;
    for (int i = 0; i < 6; ++i) {
        const uint64_t patience = machine.patience();
        EXPECT_GE(patience + 2 * kMs, 2 * before);
        before = patience;
        machine.governor.probed(machine.now, 0);
        EXPECT_EQ(machine.governor.n_active(), 1u);
    }
    for (int i = 0; i < 4; ++i) {
        EXPECT_LE(machine.patience(), 17 * kSecond);
        machine.governor.probed(machine.now, 0);
    }
}

TEST(WorkerGovernor, takes_back_the_workers_that_found_a_free_core) {
    Machine machine(4);
    machine.lost_percent = {50, 50, 50, 50};
    machine.run_for(60 * kMs);
    ASSERT_EQ(machine.governor.n_active(), 1u);
    machine.lost_percent = {0, 0, 0, 0};
    machine.patience();
    machine.governor.probed(machine.now, 2);
    EXPECT_EQ(machine.governor.n_active(), 3u);
    machine.patience();
    machine.governor.probed(machine.now, 1);
    EXPECT_EQ(machine.governor.n_active(), 4u);
    machine.run_for(kSecond);
    EXPECT_EQ(machine.governor.n_active(), 4u);
}

TEST(WorkerGovernor, is_as_quick_as_at_first_once_a_raise_has_lasted) {
    Machine machine(2);
    machine.lost_percent = {60, 60};
    machine.run_for(60 * kMs);
    const uint64_t first = machine.patience();
    for (int i = 0; i < 3; ++i) {
        machine.governor.probed(machine.now, 0);
        machine.patience();
    }
    machine.lost_percent = {0, 0};
    machine.governor.probed(machine.now, 1);
    machine.run_for(10 * kSecond);
    machine.lost_percent = {60, 60};
    machine.run_for(120 * kMs);
    ASSERT_EQ(machine.governor.n_active(), 1u);
    EXPECT_LE(machine.patience(), first + 2 * kMs);
}

TEST(WorkerGovernor, does_not_flap_when_a_raise_was_wrong) {
    Machine machine(2);
    machine.lost_percent = {60, 60};
    machine.run_for(60 * kMs);
    const uint64_t first = machine.patience();
    machine.governor.probed(machine.now, 1);
    ASSERT_EQ(machine.governor.n_active(), 2u);
    machine.run_for(60 * kMs);
    ASSERT_EQ(machine.governor.n_active(), 1u);
    EXPECT_GE(machine.patience(), 3 * first);
}

}  // namespace kvik
