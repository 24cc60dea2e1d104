#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "cli/flags/inspect_flags.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "hub/local_models.h"

namespace kvik::cli {
namespace {

std::string in_utc(int64_t seconds) {
    const std::time_t time = seconds;
    std::tm fields{};
    char text[32] = "";
    if (::gmtime_r(&time, &fields) != nullptr)
        std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
    return text;
}

std::string in_days(int64_t seconds) {
    return in_utc(seconds).substr(0, 10);
}

std::string_view word_of(hub::Store store) {
    return store == hub::Store::huggingface ? "huggingface" : hub::store_prefix(store);
}

std::string as_json(const hub::LocalModels& all) {
    Json models = Json::array(), folders = Json::array();
    for (const hub::LocalModel& model : all.models)
        models.push_back({{"name", model.name()},
                          {"store", word_of(model.store)},
                          {"format", model.is_directory ? "safetensors" : "gguf"},
                          {"path", model.path},
                          {"bytes", model.bytes},
                          {"files", model.n_files},
                          {"quant", model.quant.empty() ? Json() : Json(model.quant)},
                          {"modified", in_utc(model.modified_s)},
                          {"problem", model.problem ? Json(model.problem->message) : Json()}});
    for (const hub::SearchedFolder& folder : all.folders)
        folders.push_back({{"store", word_of(folder.store)},
                           {"path", folder.path},
                           {"found", folder.is_there},
                           {"problem", folder.problem.empty() ? Json() : Json(folder.problem)}});
    return to_line({{"models", models}, {"folders", folders}});
}

std::string as_text(const hub::LocalModels& all) {
    size_t width = 4;
    for (const hub::LocalModel& model : all.models)
        width = std::max(width, printable(model.name()).size());
    std::string text = fmt::format("{:<{}}  {:>10}  {:<10}  {:<12}  {}\n", "NAME", width, "SIZE",
                                   "QUANT", "FROM", "MODIFIED");
    for (const hub::LocalModel& model : all.models) {
        text += fmt::format("{:<{}}  {:>10}  {:<10}  {:<12}  {}\n", printable(model.name()), width,
                            human_bytes(model.bytes),
                            model.is_directory ? "safetensors" : printable(model.quant),
                            hub::store_name(model.store), in_days(model.modified_s));
        if (model.problem)
            text += fmt::format("    cannot run: {}\n", printable(model.problem->message));
    }
    return text;
}

void tell_where(const hub::LocalModels& all) {
    for (const hub::SearchedFolder& folder : all.folders)
        if (!folder.problem.empty()) note("kvik: " + printable(folder.problem) + "\n");
    if (!all.models.empty()) return;
    note("kvik: no models are here; these folders were searched:\n");
    for (const hub::SearchedFolder& folder : all.folders)
        note(fmt::format("  {:<12}  {}{}\n", hub::store_name(folder.store), printable(folder.path),
                         folder.is_there ? "" : " (not there)"));
    note("kvik pull hf:OWNER/REPO fetches a model from Hugging Face\n");
}

}  // namespace

Result<int> list(const Call& call) {
    ListOptions options;
    const Flags flags = list_flags(options);
    KVIK_TRY(const auto shown, begin(flags, call));
    if (shown) return *shown;
    const hub::LocalModels all = hub::find_local_models(hub::find_places(call.environment));
    if (options.json) {
        KVIK_TRY_VOID(put(as_json(all)));
        return 0;
    }
    if (!all.models.empty()) KVIK_TRY_VOID(put(as_text(all)));
    tell_where(all);
    return 0;
}

}  // namespace kvik::cli
