#include "cli/repl/habits.h"

#include <span>
#include <utility>

namespace kvik::cli {
namespace {

using Entry = std::pair<std::string_view, std::string_view>;

constexpr Entry kCommands[] = {
    {"/quit", "/exit"},   {"/bye", "/exit"},    {"/?", "/help"},
    {"/clear", "/reset"}, {"/retry", "/regen"}, {"/regenerate", "/regen"},
};

constexpr Entry kCommandHints[] = {
    {"/image", "kvik reads text only: /read FILE puts a text file before the next message"},
    {"/audio", "kvik reads text only: /read FILE puts a text file before the next message"},
    {"/glob", "/read FILE takes one file at a time, and may be given several times"},
    {"/model", "another model is another chat: kvik chat MODEL --resume goes on with its last one"},
    {"/list-models", "kvik list shows the models that are here"},
};

constexpr Entry kSettingHints[] = {
    {"num_ctx", "the context is set at the start: kvik chat MODEL --ctx N"},
    {"num_thread", "threads are set at the start: kvik chat MODEL --threads N"},
    {"num_gpu", "kvik computes on the CPU: there is nothing to set"},
    {"num_batch", "the batch is set at the start: kvik chat MODEL --ubatch N"},
    {"num_keep",
     "the system message always stays: /set overflow truncate leaves out the oldest others"},
    {"repeat_last_n", "penalties count all tokens of the conversation here"},
    {"mirostat", "not available in this version: temp, top_k, top_p and min_p are"},
    {"typical_p", "not available in this version: temp, top_k, top_p and min_p are"},
    {"tfs_z", "not available in this version: temp, top_k, top_p and min_p are"},
    {"format", "answers in a given format are not available in this version"},
    {"noformat", "answers have no format in this version"},
    {"verbose", "the line after each answer is always there at a terminal: /stats tells more"},
    {"quiet", "the line after each answer is always there at a terminal: 2>/dev/null hides it"},
    {"history", "what is typed is always kept: kvik doctor names the folder, which may be deleted"},
    {"nohistory",
     "what is typed is always kept: kvik doctor names the folder, which may be deleted"},
    {"think", "the model's template decides about thinking in this version"},
    {"nothink", "the model's template decides about thinking in this version"},
};

std::optional<std::string_view> find(std::span<const Entry> entries, std::string_view name) {
    for (const auto& [key, value] : entries)
        if (key == name) return value;
    return std::nullopt;
}

}  // namespace

std::string_view command_here(std::string_view name) {
    return find(kCommands, name).value_or(name);
}

std::optional<std::string_view> hint_about_command(std::string_view name) {
    return find(kCommandHints, name);
}

std::optional<std::string_view> hint_about_setting(std::string_view name) {
    return find(kSettingHints, name);
}

}  // namespace kvik::cli
