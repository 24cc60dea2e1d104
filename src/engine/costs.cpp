// Engine::Impl and StepLoop: how what a step costs becomes known. Kept from another time, it is there
// when the engine opens. Else it is measured, not while it opens, since somebody waits for the first
// token then, but once nobody has wanted anything for a while. Whoever comes in between waits for
// one step of the measuring at most: it is given up, and begun anew in the next pause.
#include "base/check.h"
#include "engine/engine_impl.h"
#include "engine/step_costs_file.h"
#include "engine/step_timer.h"
#include "kernels/numerics.h"

namespace kvik {

static constexpr std::chrono::milliseconds kPause(250);

void Engine::Impl::find_costs(const EngineOptions& options) {
    calibrate = options.calibrate;
    if (calibrate == Calibrate::off) return;
    costs_folder = options.costs_folder;
    costs_key = {.cpu = cpu_model(),
                 .isa = used.isa,
                 .act = used.act,
                 .kv = used.kv,
                 .model = parts.model->spec().fingerprint,
                 .n_threads = used.n_threads,
                 .block_tokens = settings.kv.block_tokens,
                 .program = program_id(),
                 .numerics = numerics::kRevision};
    std::optional<StepCosts> found = calibrate == Calibrate::on
                                         ? read_step_costs(costs_folder, costs_key)
                                         : step_loop->measure_costs([] { return false; });
    if (!found) return;
    if (calibrate == Calibrate::fresh) keep_step_costs(costs_folder, costs_key, *found);
    use_costs(*found);
}

void Engine::Impl::use_costs(const StepCosts& learnt) {
    step_loop->use_costs(learnt);
    calibrate = Calibrate::off;
    const std::lock_guard lock(costs_mutex);
    costs = learnt;
}

void Engine::Impl::calibrate_when_idle() {
    if (calibrate == Calibrate::off || queue.wait_for(kPause)) return;
    bool stopped = false;
    const std::optional<StepCosts> learnt = step_loop->measure_costs(
        [&] { return stopped = queue.wait_for(std::chrono::milliseconds(0)); });
    if (learnt) {
        keep_step_costs(costs_folder, costs_key, *learnt);
        use_costs(*learnt);
    } else if (!stopped) {
        calibrate = Calibrate::off;  // it cannot be measured here
    }
}

std::optional<StepCosts> StepLoop::measure_costs(const std::function<bool()>& must_stop) {
    KVIK_CHECK(requests_.empty(), "nothing is under way while steps are measured");
    std::optional<StepTimer> timer =
        StepTimer::open({.model = parts_.model,
                         .pool = parts_.pool,
                         .scratch = *scratch_,
                         .limits = settings_.scratch_limits(),
                         .logits = logits_rows(0, settings_.n_logits_rows),
                         .kv = settings_.kv,
                         .cache_bytes = settings_.cache_bytes,
                         .now_ms = parts_.now_ms,
                         .must_stop = must_stop});
    if (!timer) return std::nullopt;
    return calibrate(
        timer->limits(), [&](const StepPoint& point) { return timer->time(point); }, parts_.now_ms);
}

}  // namespace kvik
