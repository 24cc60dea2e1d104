#include "model/check.h"

#include "base/check.h"
#include "model/arch/registry.h"
#include "model/load.h"
#include "model/weight_loader.h"

namespace kvik {

Result<ModelNeeds> check_model(const ModelSource& source, const std::string& path) {
    KVIK_TRY_VOID(check_limits(source.config, path));
    const Architecture* architecture = find_architecture(source.config.architecture);
    KVIK_CHECK(architecture, "a reader accepts only registered architectures");
    TransformerWeights weights;
    WeightPlan plan(source.format);
    architecture->plan(source.config, weights, plan);
    ModelNeeds needs;
    KVIK_TRY(needs.weight_bytes, check_weights(*source.tensors, path, plan));
    for (const WeightPlan::Matrix& m : plan.matrices) {
        const bool is_head = m.to == (source.config.tied_head ? &weights.embedding : &weights.head);
        const bool is_table = m.to == &weights.embedding || m.to == &weights.positions;
        if (!is_table || is_head) needs.step_bytes += m.to->n_bytes();
        if (is_table && !is_head) continue;
        MultiplyAdds& macs = is_head ? needs.head : needs.token;
        const bool is_quantised = tile_traits(m.to->type).group > 1;
        (is_quantised ? macs.quantised : macs.floats) += uint64_t{m.n_out} * m.n_in;
    }
    return needs;
}

}  // namespace kvik
