#include "cli/check_model_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/thread_pool.h"
#include "cli/check_tensors.h"
#include "cli/json.h"
#include "cli/load_bar.h"
#include "cli/terminal.h"
#include "model/check.h"
#include "model/source.h"
#include "model/tied_lm_head.h"
#include "text/chat_template.h"
#include "text/tokenizer.h"

namespace kvik::cli {
namespace {

constexpr size_t kMostLines = 10;

// All of loading but the weights themselves.
Result<void> check_words(ModelWords words, const std::string& path) {
    const auto name_file = [&](Error error) {
        return fail(error.kind, fmt::format("{}: {}", path, error.message));
    };
    if (words.tokenizer) {
        const auto tokenizer = make_tokenizer(std::move(*words.tokenizer));
        // One that this version cannot use blocks text, not the model.
        if (!tokenizer && tokenizer.error().kind != ErrorKind::unsupported)
            return name_file(tokenizer.error());
    }
    for (NamedTemplate& each : words.chat_templates) {
        const auto compiled = ChatTemplate::compile(std::move(each.source));
        if (!compiled) return name_file(compiled.error());
    }
    return {};
}

std::string as_text(const TensorCheck& check, const std::string& path) {
    std::string text;
    const auto list = [&](const auto& all, const auto& line_of) {
        for (size_t i = 0; i < std::min(all.size(), kMostLines); ++i)
            text += printable(line_of(all[i])) + "\n";
        if (all.size() > kMostLines)
            text += fmt::format("... and {} more\n", all.size() - kMostLines);
    };
    list(check.damaged, [](const DamagedTensor& tensor) {
        return fmt::format("tensor '{}': {} numbers are NaN or infinite, the first is element {}",
                           tensor.name, tensor.n_not_finite, tensor.first_index);
    });
    list(check.all_zero,
         [](const std::string& name) { return fmt::format("tensor '{}' is all zero", name); });
    text += fmt::format("{}: {} tensors, {} bytes\ndigest {}\n", printable(path), check.n_tensors,
                        check.n_bytes, check.digest);
    if (check.is_sound()) return text + "ok\n";
    if (check.is_empty())
        text += fmt::format(
            "all {} matrices are zero: the file was made at its full size and never "
            "filled, fetch or convert the model again\n",
            check.n_matrices);
    if (check.damaged.empty()) return text;
    return text + fmt::format("{} tensors are damaged: fetch or convert the model again\n",
                              check.damaged.size());
}

std::string as_json(const TensorCheck& check, const std::string& path) {
    Json damaged = Json::array();
    for (const DamagedTensor& tensor : check.damaged)
        damaged.push_back({{"tensor", tensor.name},
                           {"not_finite", tensor.n_not_finite},
                           {"first_index", tensor.first_index}});
    return to_line({{"file", path},
                    {"ok", check.is_sound()},
                    {"tensors", check.n_tensors},
                    {"bytes", check.n_bytes},
                    {"digest", check.digest},
                    {"damaged", damaged},
                    {"all_zero", check.all_zero}});
}

}  // namespace

Result<int> check_model_file(const std::string& path, ErrorFormat format) {
    KVIK_TRY(ModelSource source, open_source(path));
    KVIK_TRY_VOID(resolve_tied_head(source, path));
    KVIK_TRY_VOID(check_model(source, path));
    KVIK_TRY_VOID(check_words(std::move(source.words), path));
    KVIK_TRY(const auto pool, ThreadPool::create(usable_cores()));
    Result<TensorCheck> read;
    {
        LoadBar bar;
        read = check_tensors(*source.tensors, *pool,
                             [&](uint64_t done, uint64_t total) { bar.update(done, total); });
    }
    KVIK_TRY(const TensorCheck check, std::move(read));
    KVIK_TRY_VOID(put(format == ErrorFormat::json ? as_json(check, path) : as_text(check, path)));
    return check.is_sound() ? 0 : static_cast<int>(ErrorKind::file);
}

}  // namespace kvik::cli
