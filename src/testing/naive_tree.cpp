#include "testing/naive_tree.h"

#include <algorithm>

#include "base/check.h"
#include "cache/block_table.h"

namespace kvik {

// ---- entries ----

uint32_t NaiveTree::place_of(const Entry& entry) const {
    return static_cast<uint32_t>((entry.path.size() - 1) / options_.shape.block_tokens);
}

size_t NaiveTree::begin_of(const Entry& entry) const {
    return size_t{place_of(entry)} * options_.shape.block_tokens;
}

NaiveTokens NaiveTree::above(const Entry& entry) const {
    return first_tokens(entry.path, begin_of(entry));
}

bool NaiveTree::is_below(const Entry& entry, const Entry& above) const {
    return entry.ns == above.ns && place_of(entry) > place_of(above) &&
           above.path.size() % options_.shape.block_tokens == 0 && begins(above.path, entry.path);
}

NaiveTree::Entry* NaiveTree::by_id(uint64_t id) {
    for (Entry& entry : entries_)
        if (entry.id == id) return &entry;
    return nullptr;
}

void NaiveTree::erase(uint64_t id) {
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
    forget_uncovered_logits();
}

// The least entry of the path's last place that begins with all of the path.
NaiveTree::Entry* NaiveTree::covering(uint32_t ns, const NaiveTokens& path, Kind kind) {
    Entry* best = nullptr;
    for (Entry& entry : entries_)
        if (entry.ns == ns && entry.is_awake == (kind == Kind::awake) &&
            begin_of(entry) ==
                (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens &&
            begins(path, entry.path) && (!best || entry.path < best->path))
            best = &entry;
    return best;
}

// The entry of the path's last place that the path begins with.
NaiveTree::Entry* NaiveTree::beginning(uint32_t ns, const NaiveTokens& path, Kind kind) {
    for (Entry& entry : entries_)
        if (entry.ns == ns && entry.is_awake == (kind == Kind::awake) &&
            begin_of(entry) ==
                (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens &&
            begins(entry.path, path))
            return &entry;
    return nullptr;
}

// ---- finding ----

// Among the entries of one place that share the most tokens, and at least one token of that place,
// the tree takes the nearest in order, the one above first.
const NaiveTree::Entry* NaiveTree::best_entry(uint32_t ns, const NaiveTokens& tokens, size_t place,
                                              Kind kind) const {
    const size_t size = options_.shape.block_tokens;
    const NaiveTokens asked = first_tokens(tokens, (place + 1) * size);
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
        if (entry.ns != ns || place_of(entry) != place) continue;
        if (entry.is_awake != (kind == Kind::awake)) continue;
        const size_t n = n_common(entry.path, asked);
        if (n <= place * size) continue;
        const size_t n_best = best ? n_common(best->path, asked) : 0;
        if (n < n_best) continue;
        const bool above = entry.path >= asked, best_above = best && best->path >= asked;
        const bool nearer = !best || n > n_best || (above && !best_above) ||
                            (above && best_above && entry.path < best->path) ||
                            (!above && !best_above && entry.path > best->path);
        if (nearer) best = &entry;
    }
    return best;
}

uint32_t NaiveTree::n_matched(const Path& path, const NaiveTokens& tokens) const {
    return path.empty() ? 0 : static_cast<uint32_t>(n_common(path.back()->path, tokens));
}

NaiveTree::Path NaiveTree::walk_awake(uint32_t ns, const NaiveTokens& tokens) const {
    Path path;
    for (size_t i = 0; i * options_.shape.block_tokens < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i, Kind::awake);
        if (!entry) break;
        path.push_back(entry);
        if (n_common(entry->path, tokens) < (i + 1) * options_.shape.block_tokens) break;
    }
    return path;
}

NaiveTree::Path NaiveTree::walk_on_asleep(uint32_t ns, const NaiveTokens& tokens, Path path) const {
    if (n_matched(path, tokens) % options_.shape.block_tokens != 0) path.pop_back();
    for (size_t i = path.size(); i * options_.shape.block_tokens < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i, Kind::asleep);
        if (!entry) break;
        path.push_back(entry);
        if (n_common(entry->path, tokens) < (i + 1) * options_.shape.block_tokens) break;
    }
    return path;
}

uint32_t NaiveTree::n_rows(const Entry& entry, uint32_t group, State state) const {
    const uint32_t in_ram = entry.is_awake ? entry.groups[group].n_rows : 0;
    if (state == State::in_ram || (entry.tier.group_mask >> group & 1) == 0) return in_ram;
    return std::max(in_ram, entry.tier.n_tokens);
}

bool NaiveTree::is_usable(const Path& path, uint32_t n_tokens, State state) const {
    const uint32_t size = options_.shape.block_tokens;
    const uint32_t last = (n_tokens - 1) / size;
    for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
        for (uint32_t i = std::min(options_.shape.first_place(g, n_tokens), last); i <= last; ++i)
            if (n_rows(*path[i], g, state) < std::min(size, n_tokens - i * size)) return false;
    return true;
}

uint32_t NaiveTree::usable_tokens(const Path& path, const NaiveTokens& tokens, State state) const {
    for (uint32_t n = n_matched(path, tokens); n > 0; --n)
        if (is_usable(path, n, state)) return n;
    return 0;
}

NaiveHit NaiveTree::find(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveHit hit;
    hit.groups.resize(options_.shape.n_groups());
    const Path path = walk_awake(ns, tokens);
    hit.n_resident = n_matched(path, tokens);
    hit.n_known = std::max(hit.n_resident, n_matched(walk_on_asleep(ns, tokens, path), tokens));
    hit.n_tokens = usable_tokens(path, tokens, State::in_ram);
    if (hit.n_tokens == 0) return hit;
    const uint32_t last = (hit.n_tokens - 1) / options_.shape.block_tokens;
    hit.entry = path[last]->id;
    for (uint32_t g = 0; g < hit.groups.size(); ++g) {
        hit.groups[g].first = std::min(options_.shape.first_place(g, hit.n_tokens), last + 1);
        for (uint32_t i = hit.groups[g].first; i <= last; ++i)
            hit.groups[g].blocks.push_back(path[i]->groups[g].ref);
    }
    hit.has_logits = hit.n_tokens == tokens.size() &&
                     std::find(logits_.begin(), logits_.end(), Logits{ns, tokens}) != logits_.end();
    return hit;
}

PathReport NaiveTree::explain(uint32_t ns, const NaiveTokens& tokens) const {
    PathReport report;
    Path path = walk_awake(ns, tokens);
    report.n_usable = usable_tokens(path, tokens, State::in_ram);
    report.n_resident = report.n_known = n_matched(path, tokens);
    const Path asleep = walk_on_asleep(ns, tokens, path);
    if (n_matched(asleep, tokens) <= report.n_resident) return report;
    report.n_known = n_matched(asleep, tokens);
    for (size_t at = report.n_resident; at < report.n_known; ++at) {  // token by token
        const Entry& entry = *asleep[at / options_.shape.block_tokens];
        bool is_on_tier = at - begin_of(entry) < entry.tier.n_tokens;
        for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
            if (options_.shape.windows[g] == 0) is_on_tier &= entry.tier.group_mask >> g & 1;
        if (!is_on_tier && report.n_evicted == 0) report.evicted_ms = entry.evicted_ms;
        ++(is_on_tier ? report.n_on_tier : report.n_evicted);
    }
    return report;
}

void NaiveTree::touch(uint64_t end, uint64_t n_hits) {
    ++tick_;
    const Entry last = *by_id(end);
    for (Entry& entry : entries_) {
        if (entry.id != end && !is_below(last, entry)) continue;
        entry.last_use = tick_;
        entry.n_uses += n_hits;
        entry.rank =
            eviction_rank(options_.policy,
                          {.last_use = entry.last_use,
                           .inserted = entry.inserted,
                           .n_uses = entry.n_uses,
                           .recompute_ms = static_cast<double>(entry.path.size() - begin_of(entry)),
                           .clock = clock_});
    }
}

void NaiveTree::use(const NaiveHit& hit, uint32_t ns, const NaiveTokens& tokens) {
    const Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_awake) return;
    touch(hit.entry, 1);
    const auto logits = std::find(logits_.begin(), logits_.end(), Logits{ns, tokens});
    if (hit.has_logits && logits != logits_.end()) std::rotate(logits, logits + 1, logits_.end());
}

// ---- publishing ----

NaiveInsert NaiveTree::insert(uint32_t ns, const NaiveTokens& tokens,
                              const std::vector<NaiveGroup>& groups, InsertKind kind) {
    NaiveInsert report;
    if (tokens.empty()) return report;
    uint64_t end = 0;
    const size_t size = options_.shape.block_tokens;
    for (size_t i = 0; i * size < tokens.size(); ++i) {
        Offer offer;
        for (const NaiveGroup& group : groups)
            offer.push_back(i >= group.first && i - group.first < group.blocks.size()
                                ? group.blocks[i - group.first]
                                : nullptr);
        end = put(ns, first_tokens(tokens, (i + 1) * size), offer, report);
    }
    touch(end, 0);
    if (kind == InsertKind::boundary) mark(end, tokens.size());
    return report;
}

uint64_t NaiveTree::put(uint32_t ns, const NaiveTokens& path, const Offer& offer,
                        NaiveInsert& report) {
    const size_t size = options_.shape.block_tokens, place = (path.size() - 1) / size;
    const auto n_tokens = static_cast<uint32_t>(path.size() - place * size);
    if (Entry* covers = covering(ns, path, Kind::awake)) {
        for (uint32_t g = 0; g < offer.size(); ++g) {
            Share& own = covers->groups[g];
            report.n_duplicates +=
                n_tokens == size && offer[g] && own.n_rows == n_tokens && own.ref != offer[g];
            if (!offer[g] || own.n_rows >= n_tokens || covers->path != path) continue;
            own = {offer[g], n_tokens};
            ++report.n_new;
        }
        return covers->id;
    }
    const Entry* nearest = best_entry(ns, path, place, Kind::awake);
    const uint64_t nearest_id = nearest ? nearest->id : 0;
    const size_t n_alike = nearest ? n_common(nearest->path, path) : 0;
    uint64_t id = 0;
    Entry* asleep = beginning(ns, path, Kind::asleep);
    Entry* shorter = beginning(ns, path, Kind::awake);
    if (shorter) {
        id = shorter->id;
        shorter->path = path;
        for (uint32_t g = 0; g < offer.size(); ++g)
            if (!offer[g] && shorter->groups[g].ref.use_count() > 1) shorter->groups[g] = {};
        if (asleep) {
            absorb(*shorter, *asleep);
            erase(asleep->id);
        }
    } else if (asleep) {
        id = asleep->id;
        clear_read(*asleep);
        asleep->is_awake = true;
        asleep->path = path;
        asleep->inserted = tick_ + 1;
        ++asleep->n_uses;
    } else {
        id = next_id_++;
        entries_.push_back({.id = id, .ns = ns, .path = path, .inserted = tick_ + 1});
        entries_.back().groups.resize(offer.size());
    }
    for (uint32_t g = 0; g < offer.size(); ++g) {
        if (!offer[g]) continue;
        by_id(id)->groups[g] = {offer[g], n_tokens};
        ++report.n_new;
    }
    if (!shorter && nearest_id != 0) {
        mark(nearest_id, n_alike);
        mark(id, n_alike);
    } else if (!shorter && place > 0) {
        bool has_sibling = false;
        for (const Entry& other : entries_)
            has_sibling |= other.id != id && other.ns == ns && other.is_awake &&
                           place_of(other) == place && above(other) == above(*by_id(id));
        if (has_sibling)
            mark(covering(ns, first_tokens(path, place * size), Kind::awake)->id, place * size);
    }
    mark_distance(id);
    return id;
}

void NaiveTree::absorb(Entry& to, const Entry& from) {
    to.n_uses = std::max(to.n_uses, from.n_uses);
    to.last_use = std::max(to.last_use, from.last_use);
    if (from.tier.n_tokens > to.tier.n_tokens) {
        if (!to.is_awake) clear_read(to);
        to.tier = from.tier;
    }
}

bool NaiveTree::store_logits(uint32_t ns, const NaiveTokens& tokens) {
    if (tokens.empty() || find(ns, tokens).n_tokens != tokens.size()) return false;
    if (options_.most_logits == 0) return false;
    std::erase(logits_, Logits{ns, tokens});
    if (logits_.size() == options_.most_logits) logits_.erase(logits_.begin());
    logits_.push_back({ns, tokens});
    return true;
}

void NaiveTree::forget_uncovered_logits() {
    std::erase_if(logits_, [this](const Logits& logits) {
        return n_matched(walk_awake(logits.ns, logits.path), logits.path) != logits.path.size();
    });
}

// ---- resume points ----

void NaiveTree::mark(uint64_t id, size_t n_tokens) {
    by_id(id)->resume_points.insert(static_cast<uint32_t>(n_tokens));
}

void NaiveTree::mark_distance(uint64_t id) {
    const Entry& entry = *by_id(id);
    if (options_.resume_every == 0) return;
    for (size_t n = entry.path.size(); n > begin_of(entry); --n)
        if (n % options_.resume_every == 0) return mark(id, n);
}

bool NaiveTree::has_window_block(const Entry& entry) const {
    for (uint32_t g = 0; g < entry.groups.size(); ++g)
        if (options_.shape.windows[g] > 0 && entry.groups[g].ref) return true;
    return false;
}

// Of the widest window: no resume point at or below needs this place, nor would one token before.
bool NaiveTree::is_loose(const Entry& entry) const {
    const auto& windows = options_.shape.windows;
    const auto widest =
        static_cast<uint32_t>(std::max_element(windows.begin(), windows.end()) - windows.begin());
    for (const Entry& other : entries_) {
        if (other.id != entry.id && !is_below(other, entry)) continue;
        for (const uint32_t n : other.resume_points)
            if (options_.shape.first_place(widest, n - 1) <= place_of(entry)) return false;
    }
    return true;
}

// ---- pins ----

bool NaiveTree::pin(const NaiveHit& hit) {
    Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_awake) return false;
    ++entry->n_pins;
    mark(hit.entry, hit.n_tokens);
    return true;
}

void NaiveTree::unpin(uint64_t entry) {
    --by_id(entry)->n_pins;
}

// If `more` were pinned as well.
uint32_t NaiveTree::n_timed_blocks(const Entry* more) const {
    uint32_t n_full = 0, widest = 0, n = 0;
    for (const uint32_t window : options_.shape.windows) {
        n_full += window == 0;
        widest = std::max(widest, window);
    }
    const auto is_pinned = [&](const Entry& e) { return e.pinned_until > 0 || &e == more; };
    for (const Entry& entry : entries_) {
        bool holds = is_pinned(entry);
        if (holds)
            n += (options_.shape.n_groups() - n_full) *
                 std::min(place_of(entry) + 1, widest / options_.shape.block_tokens + 2);
        for (const Entry& other : entries_) holds |= is_pinned(other) && is_below(other, entry);
        n += holds ? n_full : 0;
    }
    return n;
}

bool NaiveTree::pin_until(const NaiveHit& hit, double until_ms) {
    Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_awake || until_ms <= now_ms_) return false;
    if (n_timed_blocks(entry) * 2 > options_.n_blocks && entry->pinned_until == 0) return false;
    mark(hit.entry, hit.n_tokens);
    entry->pinned_until = std::max(entry->pinned_until, until_ms);
    return true;
}

void NaiveTree::set_clock(double now_ms) {
    now_ms_ = now_ms;
    for (Entry& entry : entries_)
        if (entry.pinned_until <= now_ms_) entry.pinned_until = 0;
}

// ---- letting go ----

bool NaiveTree::is_leaf(const Entry& entry) const {
    return std::ranges::none_of(
        entries_, [&](const Entry& other) { return other.is_awake && is_below(other, entry); });
}

void NaiveTree::clear_read(Entry& sleeper) {
    sleeper.groups.assign(options_.shape.n_groups(), {});
}

void NaiveTree::fall_asleep(uint64_t id) {
    if (options_.n_sleeping == 0) return erase(id);
    Entry& entry = *by_id(id);
    entry.is_awake = false;
    entry.rank.is_fresh = true;
    entry.resume_points.clear();
    entry.evicted_ms = now_ms_;
    clear_read(entry);
    forget_uncovered_logits();
    Entry* longer = nullptr;
    Entry* shorter = nullptr;
    for (Entry& other : entries_) {
        if (other.id == id || other.ns != entry.ns || other.is_awake) continue;
        if (place_of(other) != place_of(entry)) continue;
        if (begins(entry.path, other.path) && (!longer || other.path < longer->path))
            longer = &other;
        if (begins(other.path, entry.path)) shorter = &other;
    }
    if (longer) {
        absorb(*longer, entry);
        erase(id);
    } else if (shorter) {
        absorb(entry, *shorter);
        erase(shorter->id);
    }
    trim_sleepers();
}

void NaiveTree::trim_sleepers() {
    while (n_sleeping() > options_.n_sleeping) {
        const Entry* next = nullptr;
        const auto order = [](const Entry& e) {
            return std::pair(e.tier.ref != kNoTier, e.last_use);
        };
        for (const Entry& entry : entries_) {
            const bool has_child = std::ranges::any_of(
                entries_, [&](const Entry& other) { return is_below(other, entry); });
            if (entry.is_awake || has_child) continue;
            if (!next || order(entry) < order(*next)) next = &entry;
        }
        erase(next->id);
    }
}

uint32_t NaiveTree::evict(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    if (n_blocks == 0) return 0;
    for (Entry& entry : entries_) {
        if (entry.is_awake) continue;
        for (const Share& share : entry.groups) n_freed += share.ref && share.ref.use_count() == 1;
        clear_read(entry);
    }
    if (n_freed < n_blocks) n_freed += evict_loose(n_blocks - n_freed);
    if (n_freed < n_blocks) n_freed += remove_leaves(n_blocks - n_freed, Owners::tree_alone);
    if (n_freed < n_blocks) n_freed += evict_anchored(n_blocks - n_freed);
    return n_freed;
}

uint32_t NaiveTree::evict_loose(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            bool is_shared = false;
            for (uint32_t g = 0; g < entry.groups.size(); ++g)
                is_shared |= options_.shape.windows[g] > 0 && entry.groups[g].ref.use_count() > 1;
            if (!entry.is_awake || is_shared || !has_window_block(entry) || !is_loose(entry))
                continue;
            if (!next || std::pair(entry.last_use, place_of(entry)) <
                             std::pair(next->last_use, place_of(*next)))
                next = &entry;
        }
        if (!next) break;
        for (uint32_t g = 0; g < next->groups.size(); ++g) {
            if (options_.shape.windows[g] == 0) continue;
            n_freed += next->groups[g].ref != nullptr;
            next->groups[g] = {};
        }
    }
    return n_freed;
}

uint32_t NaiveTree::evict_anchored(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            if (entry.resume_points.empty() || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            if (!next || std::pair(entry.last_use, place_of(entry)) <
                             std::pair(next->last_use, place_of(*next)))
                next = &entry;
        }
        if (!next) break;
        next->resume_points.clear();
        n_freed += evict_loose(n_blocks - n_freed);
    }
    return n_freed;
}

uint32_t NaiveTree::remove_leaves(uint32_t n_most, Owners owners) {
    uint32_t n_removed = 0;
    while (n_removed < n_most) {
        const Entry* next = nullptr;
        for (const Entry& entry : entries_) {
            if (!entry.is_awake || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            if (!is_leaf(entry)) continue;
            if ((entry.groups[0].ref.use_count() > 1) != (owners == Owners::others_too)) continue;
            if (!next || entry.rank < next->rank) next = &entry;
        }
        if (!next) break;
        clock_ = std::max(clock_, next->rank.value);
        if (owners == Owners::others_too) ++n_removed;
        if (owners == Owners::tree_alone)
            for (const Share& share : next->groups)
                n_removed += share.ref && share.ref.use_count() == 1;
        fall_asleep(next->id);
    }
    return n_removed;
}

uint32_t NaiveTree::let_go_shared(uint32_t n_leaves) {
    return remove_leaves(n_leaves, Owners::others_too);
}

// From the last place up: wholly matched entries all of whose children are forgotten too.
void NaiveTree::forget(uint32_t ns, const NaiveTokens& tokens, uint32_t from, ForgetKind kind) {
    std::set<uint64_t> forgotten;
    for (size_t place = tokens.size() / options_.shape.block_tokens + 1; place-- > 0;)
        for (const Entry& entry : entries_) {
            if (entry.ns != ns || place_of(entry) != place || !begins(entry.path, tokens)) continue;
            if (begin_of(entry) < from || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            const bool is_needed = std::ranges::any_of(entries_, [&](const Entry& other) {
                return is_below(other, entry) && !forgotten.contains(other.id);
            });
            if (!is_needed) forgotten.insert(entry.id);
        }
    for (const uint64_t id : forgotten) {
        if (kind == ForgetKind::now)
            erase(id);
        else if (by_id(id)->is_awake)
            by_id(id)->rank.is_fresh = false;
    }
}

// ---- the tier below ----

NaiveWakePlan NaiveTree::plan_wake(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveWakePlan plan;
    Path path = walk_awake(ns, tokens);
    const uint32_t usable_now = usable_tokens(path, tokens, State::in_ram);
    plan.n_tokens = usable_tokens(path, tokens, State::with_tier);
    const Path asleep = walk_on_asleep(ns, tokens, path);
    if (const uint32_t n = usable_tokens(asleep, tokens, State::with_tier);
        n > n_matched(path, tokens)) {
        path = asleep;
        plan.n_tokens = n;
    }
    if (plan.n_tokens <= usable_now) return {};
    const uint32_t size = options_.shape.block_tokens, last = (plan.n_tokens - 1) / size;
    for (uint32_t place = 0; place <= last; ++place)
        for (const bool is_full : {false, true})
            for (uint32_t g = 0; g < options_.shape.n_groups(); ++g) {
                if ((options_.shape.windows[g] == 0) != is_full) continue;
                const uint32_t first = std::min(options_.shape.first_place(g, plan.n_tokens), last);
                const uint32_t n_needed = std::min(size, plan.n_tokens - place * size);
                if (place < first || n_rows(*path[place], g, State::in_ram) >= n_needed) continue;
                const TierRecord& tier = path[place]->tier;
                plan.items.push_back({path[place]->id, place, g, tier.ref, tier.n_tokens});
            }
    return plan;
}

bool NaiveTree::wake(const NaiveWakeItem& item, const NaiveRef& block) {
    Entry* entry = by_id(item.entry);
    if (!entry || entry->tier.ref != item.ref || entry->tier.n_tokens != item.n_tokens)
        return false;
    if (place_of(*entry) > 0 && !covering(entry->ns, above(*entry), Kind::awake)) return false;
    if (entry->groups[item.group].n_rows >= item.n_tokens) return false;
    entry->groups[item.group] = {block, item.n_tokens};
    if (entry->is_awake) {
        touch(item.entry, 0);
        return true;
    }
    for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
        if (options_.shape.windows[g] == 0 && !entry->groups[g].ref) return true;
    Offer offer;
    for (const Share& share : entry->groups) offer.push_back(share.ref);
    clear_read(*entry);
    const TierRecord record = entry->tier;
    NaiveInsert report;
    const uint64_t awake = put(
        entry->ns, first_tokens(entry->path, begin_of(*entry) + record.n_tokens), offer, report);
    if (by_id(awake)->tier.n_tokens < record.n_tokens) by_id(awake)->tier = record;
    touch(awake, 0);
    return true;
}

void NaiveTree::lose(const NaiveWakeItem& item) {
    Entry* entry = by_id(item.entry);
    if (!entry || entry->tier.ref != item.ref) return;
    entry->tier = {};
    if (!entry->is_awake) clear_read(*entry);
}

std::vector<NaiveSaveItem> NaiveTree::unsaved(uint32_t ns, const NaiveTokens& tokens) const {
    std::vector<NaiveSaveItem> items;
    for (const Entry* entry : walk_awake(ns, tokens)) {
        const auto n_tokens = static_cast<uint32_t>(entry->path.size() - begin_of(*entry));
        uint32_t mask = 0;
        for (uint32_t g = 0; g < entry->groups.size(); ++g)
            mask |= uint32_t{entry->groups[g].n_rows == n_tokens} << g;
        const uint32_t saved = entry->tier.group_mask;
        const bool gains =
            entry->tier.n_tokens < n_tokens || ((mask | saved) != saved && (mask | saved) == mask);
        if (gains) items.push_back({entry->id, place_of(*entry), n_tokens, mask});
    }
    return items;
}

void NaiveTree::note_saved(uint64_t id, TierRef ref, uint32_t group_mask, uint32_t n_tokens) {
    Entry* entry = by_id(id);
    if (!entry || n_tokens > entry->path.size() - begin_of(*entry)) return;
    const bool is_longer = n_tokens > entry->tier.n_tokens;
    const bool is_wider =
        n_tokens == entry->tier.n_tokens && (entry->tier.group_mask | group_mask) == group_mask;
    if (!is_longer && !is_wider) return;
    entry->tier = {ref, group_mask, n_tokens};
    if (!entry->is_awake) clear_read(*entry);
}

// The parent is known.
bool NaiveTree::add_sleeping(uint32_t ns, const NaiveTokens& path, TierRef ref,
                             uint32_t group_mask) {
    if (options_.n_sleeping == 0) return false;
    Entry* known = covering(ns, path, Kind::awake);
    if (!known) known = covering(ns, path, Kind::asleep);
    if (!known) {
        known = beginning(ns, path, Kind::asleep);
        if (known) known->path = path;
    }
    if (!known) {
        entries_.push_back({.id = next_id_++, .ns = ns, .path = path, .is_awake = false});
        known = &entries_.back();
        known->inserted = tick_ + 1;
        known->evicted_ms = now_ms_;
        clear_read(*known);
    }
    const uint64_t id = known->id;
    touch(id, 0);
    const size_t begin =
        (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens;
    note_saved(id, ref, group_mask, static_cast<uint32_t>(path.size() - begin));
    trim_sleepers();
    return by_id(id) != nullptr;
}

void NaiveTree::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    for (Entry& entry : entries_) {
        if (entry.tier.ref == kNoTier || !is_gone(entry.tier.ref)) continue;
        entry.tier = {};
        if (!entry.is_awake) clear_read(entry);
    }
}

uint32_t NaiveTree::n_blocks() const {
    uint32_t n = 0;
    for (const Entry& entry : entries_)
        for (const Share& share : entry.groups) n += share.ref != nullptr;
    return n;
}

uint32_t NaiveTree::n_sleeping() const {
    return static_cast<uint32_t>(
        std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.is_awake; }));
}

}  // namespace kvik
