#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>
#include <map>
#include <optional>

#include "cli/flags/inspect_flags.h"
#include "cli/json.h"
#include "cli/terminal.h"
#include "cli/verbs.h"
#include "hub/file_names.h"
#include "hub/local_models.h"
#include "model/check.h"
#include "model/source.h"

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

// What would keep it from being loaded, from its headers: those of a big vocabulary take 50 ms.
void look_into(hub::LocalModel& model, std::map<std::string, std::optional<Error>>& seen) {
    if (model.problem) return;
    const auto [place, is_new] = seen.try_emplace(model.path);
    if (is_new) {
        const Result<ModelSource> source = open_source(model.path);
        if (!source) {
            place->second = source.error();
        } else if (const auto needs = check_model(*source, model.path); !needs) {
            place->second = needs.error();
        }
    }
    model.problem = place->second;
}

// Case does not matter, as it does not where a name is looked up.
bool has_part(const hub::LocalModel& model, const std::string& part) {
    return std::any_of(model.names.begin(), model.names.end(), [&](const std::string& name) {
        return hub::lower(name).find(part) != name.npos;
    });
}

// A path within the home as ~/..., and the name of a blob by its first digits.
std::string shortened(std::string text, const std::string& home) {
    constexpr std::string_view kBlob = "sha256-";
    constexpr size_t kDigits = 64, kShown = 12;
    if (!home.empty())
        for (size_t at = 0; (at = text.find(home + "/", at)) != text.npos; ++at)
            text.replace(at, home.size(), "~");
    for (size_t at = 0; (at = text.find(kBlob, at)) != text.npos;) {
        at += kBlob.size();
        const size_t n_digits =
            std::min(text.find_first_not_of("0123456789abcdef", at), text.size()) - at;
        if (n_digits == kDigits) text.replace(at + kShown, kDigits - kShown, "...");
    }
    return text;
}

// A name that leaves no room for the rest stands on a line of its own: it can be copied whole.
std::string as_text(const hub::LocalModels& all, const std::string& home) {
    constexpr uint32_t kOthers = 51;  // columns beside the name
    const uint32_t n_columns = is_terminal(STDOUT_FILENO) ? columns_of(STDOUT_FILENO) : UINT32_MAX;
    const uint32_t most = n_columns > kOthers ? n_columns - kOthers : 0;
    size_t width = 4;
    for (const hub::LocalModel& model : all.models)
        if (const size_t n = printable(model.name()).size(); n <= most) width = std::max(width, n);
    const bool is_table = most > 4;
    std::string text;
    const auto row = [&](std::string_view name, std::string_view size, std::string_view quant,
                         std::string_view from, std::string_view date) {
        text += fmt::format("{:<{}}  {:>10}  {:<11}  {:<12}  {}\n", name, width, size, quant, from,
                            date);
    };
    if (is_table) row("NAME", "SIZE", "QUANT", "FROM", "MODIFIED");
    for (const hub::LocalModel& model : all.models) {
        const std::string name = printable(model.name()), size = human_bytes(model.bytes);
        const std::string quant = model.is_directory ? "safetensors" : printable(model.quant);
        const std::string date = in_days(model.modified_s);
        const std::string_view from = hub::store_name(model.store);
        if (is_table && name.size() <= width) {
            row(name, size, quant, from, date);
        } else {
            text += name + "\n";
            if (is_table)
                row("", size, quant, from, date);
            else
                text += fmt::format("    {}{}{}, {}, {}\n", size, quant.empty() ? "" : " ", quant,
                                    from, date);
        }
        if (model.problem)
            text += wrapped("    cannot run: " + printable(shortened(model.problem->message, home)),
                            n_columns, 4) +
                    "\n";
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
    hub::LocalModels all = hub::find_local_models(hub::find_places(call.environment));
    const size_t n_all = all.models.size();
    const std::string part = hub::lower(options.part);
    std::erase_if(all.models, [&](const hub::LocalModel& model) { return !has_part(model, part); });
    std::map<std::string, std::optional<Error>> seen;
    for (hub::LocalModel& model : all.models) look_into(model, seen);
    if (options.json) {
        KVIK_TRY_VOID(put(as_json(all)));
        return 0;
    }
    if (!all.models.empty())
        KVIK_TRY_VOID(put(as_text(all, call.environment("HOME").value_or(""))));
    if (all.models.empty() && n_all > 0) {
        note_line(fmt::format("kvik: no name has {} in it: kvik list shows all {}",
                              printable(options.part), counted(n_all, "model")));
        return 0;
    }
    tell_where(all);
    return 0;
}

}  // namespace kvik::cli
