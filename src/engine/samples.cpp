// Engine::submit_samples: several answers to one prompt, as requests that know of each other.
#include <utility>

#include "engine/engine_impl.h"
#include "engine/sequence_group.h"

namespace kvik {

Result<std::vector<Stream>> Engine::submit_samples(GenerateRequest request, uint32_t n_samples) {
    if (n_samples == 0) return fail(ErrorKind::usage, "no samples are asked for: ask for one");
    if (request.beams && n_samples > 1) {
        return fail(ErrorKind::usage,
                    "beams draw nothing, so that all samples would be one: ask for "
                    "samples or for beams");
    }
    if (!request.sampling.seed) request.sampling.seed = draw_seed();
    const auto sequence_group = std::make_shared<SequenceGroup>();
    std::vector<Stream> streams;
    for (uint32_t i = 0; i < n_samples; ++i) {
        GenerateRequest one = request;
        *one.sampling.seed += i;
        KVIK_TRY(Stream stream,
                 submit(std::move(one), std::make_shared<Stream::State>(), sequence_group));
        streams.push_back(std::move(stream));
    }
    return streams;
}

}  // namespace kvik
