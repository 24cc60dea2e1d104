#include "testing/naive_prefix_cache.h"

#include <algorithm>

namespace kvik {

// ---- entries ----

uint32_t NaivePrefixCache::block_index_of(const Entry& entry) const {
    return static_cast<uint32_t>((entry.path.size() - 1) / options_.shape.block_tokens);
}

size_t NaivePrefixCache::begin_of(const Entry& entry) const {
    return size_t{block_index_of(entry)} * options_.shape.block_tokens;
}

NaiveTokens NaivePrefixCache::above(const Entry& entry) const {
    return first_tokens(entry.path, begin_of(entry));
}

bool NaivePrefixCache::is_below(const Entry& entry, const Entry& above) const {
    return entry.ns == above.ns && block_index_of(entry) > block_index_of(above) &&
           above.path.size() % options_.shape.block_tokens == 0 && begins(above.path, entry.path);
}

NaivePrefixCache::Entry* NaivePrefixCache::by_id(uint64_t id) {
    for (Entry& entry : entries_)
        if (entry.id == id) return &entry;
    return nullptr;
}

void NaivePrefixCache::erase(uint64_t id) {
    std::erase_if(entries_, [id](const Entry& entry) { return entry.id == id; });
    forget_uncovered_logits();
}

// The least entry of the path's last logical block that begins with all of the path.
NaivePrefixCache::Entry* NaivePrefixCache::covering(uint32_t ns, const NaiveTokens& path,
                                                    Kind kind) {
    Entry* best = nullptr;
    for (Entry& entry : entries_)
        if (entry.ns == ns && entry.is_resident == (kind == Kind::resident) &&
            begin_of(entry) ==
                (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens &&
            begins(path, entry.path) && (!best || entry.path < best->path))
            best = &entry;
    return best;
}

// The entry of the path's last logical block that the path begins with.
NaivePrefixCache::Entry* NaivePrefixCache::beginning(uint32_t ns, const NaiveTokens& path,
                                                     Kind kind) {
    for (Entry& entry : entries_)
        if (entry.ns == ns && entry.is_resident == (kind == Kind::resident) &&
            begin_of(entry) ==
                (path.size() - 1) / options_.shape.block_tokens * options_.shape.block_tokens &&
            begins(entry.path, path))
            return &entry;
    return nullptr;
}

// ---- finding ----

// Among the entries of one logical block that share the most tokens, and at least one token of that
// logical block, the tree takes the nearest in order, the one above first.
const NaivePrefixCache::Entry* NaivePrefixCache::best_entry(uint32_t ns, const NaiveTokens& tokens,
                                                            size_t block_index, Kind kind) const {
    const size_t size = options_.shape.block_tokens;
    const NaiveTokens wanted = first_tokens(tokens, (block_index + 1) * size);
    const Entry* best = nullptr;
    for (const Entry& entry : entries_) {
        if (entry.ns != ns || block_index_of(entry) != block_index) continue;
        if (entry.is_resident != (kind == Kind::resident)) continue;
        const size_t n = n_common(entry.path, wanted);
        if (n <= block_index * size) continue;
        const size_t n_best = best ? n_common(best->path, wanted) : 0;
        if (n < n_best) continue;
        const bool above = entry.path >= wanted, best_above = best && best->path >= wanted;
        const bool nearer = !best || n > n_best || (above && !best_above) ||
                            (above && best_above && entry.path < best->path) ||
                            (!above && !best_above && entry.path > best->path);
        if (nearer) best = &entry;
    }
    return best;
}

uint32_t NaivePrefixCache::n_matched(const Path& path, const NaiveTokens& tokens) const {
    return path.empty() ? 0 : static_cast<uint32_t>(n_common(path.back()->path, tokens));
}

NaivePrefixCache::Path NaivePrefixCache::walk_resident(uint32_t ns,
                                                       const NaiveTokens& tokens) const {
    Path path;
    for (size_t i = 0; i * options_.shape.block_tokens < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i, Kind::resident);
        if (!entry) break;
        path.push_back(entry);
        if (n_common(entry->path, tokens) < (i + 1) * options_.shape.block_tokens) break;
    }
    return path;
}

NaivePrefixCache::Path NaivePrefixCache::walk_on_offloaded(uint32_t ns, const NaiveTokens& tokens,
                                                           Path path) const {
    if (n_matched(path, tokens) % options_.shape.block_tokens != 0) path.pop_back();
    for (size_t i = path.size(); i * options_.shape.block_tokens < tokens.size(); ++i) {
        const Entry* entry = best_entry(ns, tokens, i, Kind::offloaded);
        if (!entry) break;
        path.push_back(entry);
        if (n_common(entry->path, tokens) < (i + 1) * options_.shape.block_tokens) break;
    }
    return path;
}

uint32_t NaivePrefixCache::n_rows(const Entry& entry, uint32_t group, State state) const {
    const uint32_t in_ram = entry.is_resident ? entry.groups[group].n_rows : 0;
    if (state == State::in_ram || (entry.tier.group_mask >> group & 1) == 0) return in_ram;
    return std::max(in_ram, entry.tier.n_tokens);
}

bool NaivePrefixCache::is_usable(const Path& path, uint32_t n_tokens, State state) const {
    const uint32_t size = options_.shape.block_tokens;
    const uint32_t last = (n_tokens - 1) / size;
    for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
        for (uint32_t i = std::min(options_.shape.first_block(g, n_tokens), last); i <= last; ++i)
            if (n_rows(*path[i], g, state) < std::min(size, n_tokens - i * size)) return false;
    return true;
}

uint32_t NaivePrefixCache::usable_tokens(const Path& path, const NaiveTokens& tokens,
                                         State state) const {
    for (uint32_t n = n_matched(path, tokens); n > 0; --n)
        if (is_usable(path, n, state)) return n;
    return 0;
}

// The same path, or with another end of the same logical block whose windows reach further.
NaivePrefixCache::Path NaivePrefixCache::beside(const Path& path, const NaiveTokens& tokens) const {
    const uint32_t usable = usable_tokens(path, tokens, State::in_ram);
    if (usable == n_matched(path, tokens)) return path;
    const Entry* best = nullptr;
    size_t most_rows = 0;
    for (const Entry& entry : entries_) {
        if (!entry.is_resident || entry.ns != path.back()->ns) continue;
        if (above(entry) != above(*path.back())) continue;
        size_t rows = n_common(entry.path, tokens) - begin_of(entry);
        for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
            rows = std::min<size_t>(rows, entry.groups[g].n_rows);
        const bool is_first = best && rows == most_rows && rows > 0 && entry.path < best->path;
        if (rows > most_rows || is_first) best = &entry, most_rows = rows;
    }
    Path other = path;
    if (best) other.back() = best;
    return best && usable_tokens(other, tokens, State::in_ram) > usable ? other : path;
}

NaiveHit NaivePrefixCache::match(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveHit hit;
    hit.groups.resize(options_.shape.n_groups());
    const Path nearest = walk_resident(ns, tokens);
    const Path path = beside(nearest, tokens);
    hit.n_resident = n_matched(nearest, tokens);
    hit.n_known =
        std::max(hit.n_resident, n_matched(walk_on_offloaded(ns, tokens, nearest), tokens));
    hit.n_tokens = usable_tokens(path, tokens, State::in_ram);
    if (hit.n_tokens == 0) return hit;
    const uint32_t last = (hit.n_tokens - 1) / options_.shape.block_tokens;
    hit.entry = path[last]->id;
    for (uint32_t g = 0; g < hit.groups.size(); ++g) {
        hit.groups[g].first = std::min(options_.shape.first_block(g, hit.n_tokens), last + 1);
        for (uint32_t i = hit.groups[g].first; i <= last; ++i)
            hit.groups[g].blocks.push_back(path[i]->groups[g].ref);
    }
    hit.has_logits = hit.n_tokens == tokens.size() && path == nearest &&
                     std::find(logits_.begin(), logits_.end(), Logits{ns, tokens}) != logits_.end();
    return hit;
}

PathReport NaivePrefixCache::explain(uint32_t ns, const NaiveTokens& tokens) const {
    PathReport report;
    Path path = walk_resident(ns, tokens);
    report.n_usable = usable_tokens(beside(path, tokens), tokens, State::in_ram);
    report.n_resident = report.n_known = n_matched(path, tokens);
    const Path offloaded = walk_on_offloaded(ns, tokens, path);
    if (n_matched(offloaded, tokens) <= report.n_resident) return report;
    report.n_known = n_matched(offloaded, tokens);
    for (size_t at = report.n_resident; at < report.n_known; ++at) {  // token by token
        const Entry& entry = *offloaded[at / options_.shape.block_tokens];
        bool is_on_tier = at - begin_of(entry) < entry.tier.n_tokens;
        for (uint32_t g = 0; g < options_.shape.n_groups(); ++g)
            if (options_.shape.windows[g] == 0) is_on_tier &= entry.tier.group_mask >> g & 1;
        if (!is_on_tier && report.n_evicted == 0) report.evicted_ms = entry.evicted_ms;
        ++(is_on_tier ? report.n_on_tier : report.n_evicted);
    }
    return report;
}

void NaivePrefixCache::touch(uint64_t end, uint64_t n_hits) {
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

void NaivePrefixCache::use(const NaiveHit& hit, uint32_t ns, const NaiveTokens& tokens) {
    const Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_resident) return;
    touch(hit.entry, 1);
    const auto logits = std::find(logits_.begin(), logits_.end(), Logits{ns, tokens});
    if (hit.has_logits && logits != logits_.end()) std::rotate(logits, logits + 1, logits_.end());
}

// ---- publishing ----

NaiveInsert NaivePrefixCache::insert(uint32_t ns, const NaiveTokens& tokens,
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

uint64_t NaivePrefixCache::put(uint32_t ns, const NaiveTokens& path, const Offer& offer,
                               NaiveInsert& report) {
    const size_t size = options_.shape.block_tokens, block_index = (path.size() - 1) / size;
    const auto n_tokens = static_cast<uint32_t>(path.size() - block_index * size);
    if (Entry* covers = covering(ns, path, Kind::resident)) {
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
    const Entry* nearest = best_entry(ns, path, block_index, Kind::resident);
    const uint64_t nearest_id = nearest ? nearest->id : 0;
    const size_t n_alike = nearest ? n_common(nearest->path, path) : 0;
    uint64_t id = 0;
    Entry* offloaded = beginning(ns, path, Kind::offloaded);
    Entry* shorter = beginning(ns, path, Kind::resident);
    if (shorter) {
        id = shorter->id;
        shorter->path = path;
        for (uint32_t g = 0; g < offer.size(); ++g)
            if (!offer[g] && shorter->groups[g].ref.use_count() > 1) shorter->groups[g] = {};
        if (offloaded) {
            absorb(*shorter, *offloaded);
            erase(offloaded->id);
        }
    } else if (offloaded) {
        id = offloaded->id;
        clear_read(*offloaded);
        offloaded->is_resident = true;
        offloaded->path = path;
        offloaded->inserted = tick_ + 1;
        ++offloaded->n_uses;
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
    } else if (!shorter && block_index > 0) {
        bool has_sibling = false;
        for (const Entry& other : entries_)
            has_sibling |= other.id != id && other.ns == ns && other.is_resident &&
                           block_index_of(other) == block_index &&
                           above(other) == above(*by_id(id));
        if (has_sibling)
            mark(covering(ns, first_tokens(path, block_index * size), Kind::resident)->id,
                 block_index * size);
    }
    mark_distance(id);
    return id;
}

void NaivePrefixCache::absorb(Entry& to, const Entry& from) {
    to.n_uses = std::max(to.n_uses, from.n_uses);
    to.last_use = std::max(to.last_use, from.last_use);
    if (from.tier.n_tokens > to.tier.n_tokens) {
        if (!to.is_resident) clear_read(to);
        to.tier = from.tier;
    }
}

bool NaivePrefixCache::store_logits(uint32_t ns, const NaiveTokens& tokens) {
    const uint32_t usable = usable_tokens(walk_resident(ns, tokens), tokens, State::in_ram);
    if (tokens.empty() || usable != tokens.size()) return false;
    if (options_.most_logits == 0) return false;
    std::erase(logits_, Logits{ns, tokens});
    if (logits_.size() == options_.most_logits) logits_.erase(logits_.begin());
    logits_.push_back({ns, tokens});
    return true;
}

void NaivePrefixCache::forget_uncovered_logits() {
    std::erase_if(logits_, [this](const Logits& logits) {
        return n_matched(walk_resident(logits.ns, logits.path), logits.path) != logits.path.size();
    });
}

// ---- resume points ----

void NaivePrefixCache::mark(uint64_t id, size_t n_tokens) {
    by_id(id)->resume_points.insert(static_cast<uint32_t>(n_tokens));
}

void NaivePrefixCache::mark_distance(uint64_t id) {
    const Entry& entry = *by_id(id);
    if (options_.resume_every == 0) return;
    for (size_t n = entry.path.size(); n > begin_of(entry); --n)
        if (n % options_.resume_every == 0) return mark(id, n);
}

bool NaivePrefixCache::has_window_block(const Entry& entry) const {
    for (uint32_t g = 0; g < entry.groups.size(); ++g)
        if (options_.shape.windows[g] > 0 && entry.groups[g].ref) return true;
    return false;
}

// Of the widest window: no resume point at or below needs this logical block, nor would one token
// before.
bool NaivePrefixCache::is_loose(const Entry& entry) const {
    const auto& windows = options_.shape.windows;
    const auto widest =
        static_cast<uint32_t>(std::max_element(windows.begin(), windows.end()) - windows.begin());
    for (const Entry& other : entries_) {
        if (other.id != entry.id && !is_below(other, entry)) continue;
        for (const uint32_t n : other.resume_points)
            if (options_.shape.first_block(widest, n - 1) <= block_index_of(entry)) return false;
    }
    return true;
}

// ---- pins ----

bool NaivePrefixCache::pin(const NaiveHit& hit) {
    Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_resident) return false;
    ++entry->n_pins;
    mark(hit.entry, hit.n_tokens);
    return true;
}

void NaivePrefixCache::unpin(uint64_t entry) {
    --by_id(entry)->n_pins;
}

// If `more` were pinned as well.
uint32_t NaivePrefixCache::n_timed_blocks(const Entry* more) const {
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
                 std::min(block_index_of(entry) + 1, widest / options_.shape.block_tokens + 2);
        for (const Entry& other : entries_) holds |= is_pinned(other) && is_below(other, entry);
        n += holds ? n_full : 0;
    }
    return n;
}

bool NaivePrefixCache::pin_until(const NaiveHit& hit, double until_ms) {
    Entry* entry = by_id(hit.entry);
    if (!entry || !entry->is_resident || until_ms <= now_ms_) return false;
    if (n_timed_blocks(entry) * 100 > options_.n_blocks * options_.pinned_percent &&
        entry->pinned_until == 0)
        return false;
    mark(hit.entry, hit.n_tokens);
    entry->pinned_until = std::max(entry->pinned_until, until_ms);
    return true;
}

void NaivePrefixCache::set_clock(double now_ms) {
    now_ms_ = now_ms;
    for (Entry& entry : entries_)
        if (entry.pinned_until <= now_ms_) entry.pinned_until = 0;
}

// ---- releasing ----

bool NaivePrefixCache::is_leaf(const Entry& entry) const {
    return std::ranges::none_of(
        entries_, [&](const Entry& other) { return other.is_resident && is_below(other, entry); });
}

void NaivePrefixCache::clear_read(Entry& offloaded) {
    offloaded.groups.assign(options_.shape.n_groups(), {});
}

void NaivePrefixCache::offload(uint64_t id) {
    if (options_.n_offloaded == 0) return erase(id);
    Entry& entry = *by_id(id);
    entry.is_resident = false;
    entry.rank.is_fresh = true;
    entry.resume_points.clear();
    entry.evicted_ms = now_ms_;
    clear_read(entry);
    forget_uncovered_logits();
    Entry* longer = nullptr;
    Entry* shorter = nullptr;
    for (Entry& other : entries_) {
        if (other.id == id || other.ns != entry.ns || other.is_resident) continue;
        if (block_index_of(other) != block_index_of(entry)) continue;
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
    trim_offloaded();
}

void NaivePrefixCache::trim_offloaded() {
    while (n_offloaded() > options_.n_offloaded) {
        const Entry* next = nullptr;
        const auto order = [](const Entry& e) {
            return std::pair(e.tier.ref != kNoTier, e.last_use);
        };
        for (const Entry& entry : entries_) {
            const bool has_child = std::ranges::any_of(
                entries_, [&](const Entry& other) { return is_below(other, entry); });
            if (entry.is_resident || has_child) continue;
            if (!next || order(entry) < order(*next)) next = &entry;
        }
        erase(next->id);
    }
}

uint32_t NaivePrefixCache::evict(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    if (n_blocks == 0) return 0;
    for (Entry& entry : entries_) {
        const bool is_held = std::ranges::any_of(
            entry.groups, [](const Share& share) { return share.ref.use_count() > 1; });
        if (entry.is_resident || is_held) continue;
        for (const Share& share : entry.groups) n_freed += share.ref != nullptr;
        clear_read(entry);
    }
    if (n_freed < n_blocks) n_freed += evict_loose(n_blocks - n_freed);
    if (n_freed < n_blocks) n_freed += remove_leaves(n_blocks - n_freed, Owners::tree_alone);
    if (n_freed < n_blocks) n_freed += evict_anchored(n_blocks - n_freed);
    return n_freed;
}

uint32_t NaivePrefixCache::evict_loose(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            bool is_shared = false;
            for (uint32_t g = 0; g < entry.groups.size(); ++g)
                is_shared |= options_.shape.windows[g] > 0 && entry.groups[g].ref.use_count() > 1;
            if (!entry.is_resident || is_shared || !has_window_block(entry) || !is_loose(entry))
                continue;
            if (!next || std::pair(entry.last_use, block_index_of(entry)) <
                             std::pair(next->last_use, block_index_of(*next)))
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

uint32_t NaivePrefixCache::evict_anchored(uint32_t n_blocks) {
    uint32_t n_freed = 0;
    while (n_freed < n_blocks) {
        Entry* next = nullptr;
        for (Entry& entry : entries_) {
            if (entry.resume_points.empty() || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            if (!next || std::pair(entry.last_use, block_index_of(entry)) <
                             std::pair(next->last_use, block_index_of(*next)))
                next = &entry;
        }
        if (!next) break;
        next->resume_points.clear();
        n_freed += evict_loose(n_blocks - n_freed);
    }
    return n_freed;
}

uint32_t NaivePrefixCache::remove_leaves(uint32_t n_most, Owners owners) {
    uint32_t n_removed = 0;
    while (n_removed < n_most) {
        const Entry* next = nullptr;
        for (const Entry& entry : entries_) {
            if (!entry.is_resident || entry.n_pins > 0 || entry.pinned_until > 0) continue;
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
        offload(next->id);
    }
    return n_removed;
}

uint32_t NaivePrefixCache::release_shared(uint32_t n_leaves) {
    return remove_leaves(n_leaves, Owners::others_too);
}

// From the last logical block up: wholly matched entries all of whose children are forgotten too.
void NaivePrefixCache::forget(uint32_t ns, const NaiveTokens& tokens, uint32_t from,
                              ForgetKind kind) {
    std::set<uint64_t> forgotten;
    for (size_t block_index = tokens.size() / options_.shape.block_tokens + 1; block_index-- > 0;)
        for (const Entry& entry : entries_) {
            if (entry.ns != ns || block_index_of(entry) != block_index ||
                !begins(entry.path, tokens))
                continue;
            if (begin_of(entry) < from || entry.n_pins > 0 || entry.pinned_until > 0) continue;
            const bool is_needed = std::ranges::any_of(entries_, [&](const Entry& other) {
                return is_below(other, entry) && !forgotten.contains(other.id);
            });
            if (!is_needed) forgotten.insert(entry.id);
        }
    for (const uint64_t id : forgotten) {
        if (kind == ForgetKind::now)
            erase(id);
        else if (by_id(id)->is_resident)
            by_id(id)->rank.is_fresh = false;
    }
}

// ---- the tier below ----

NaiveLoadPlan NaivePrefixCache::plan_load(uint32_t ns, const NaiveTokens& tokens) const {
    NaiveLoadPlan plan;
    Path path = walk_resident(ns, tokens);
    const uint32_t usable_now = usable_tokens(beside(path, tokens), tokens, State::in_ram);
    plan.n_tokens = usable_tokens(path, tokens, State::with_tier);
    const Path offloaded = walk_on_offloaded(ns, tokens, path);
    if (const uint32_t n = usable_tokens(offloaded, tokens, State::with_tier);
        n > n_matched(path, tokens)) {
        path = offloaded;
        plan.n_tokens = n;
    }
    if (plan.n_tokens <= usable_now) return {};
    const uint32_t size = options_.shape.block_tokens, last = (plan.n_tokens - 1) / size;
    for (uint32_t block_index = 0; block_index <= last; ++block_index)
        for (const bool is_full : {false, true})
            for (uint32_t g = 0; g < options_.shape.n_groups(); ++g) {
                if ((options_.shape.windows[g] == 0) != is_full) continue;
                const uint32_t first = std::min(options_.shape.first_block(g, plan.n_tokens), last);
                const uint32_t n_needed = std::min(size, plan.n_tokens - block_index * size);
                if (block_index < first || n_rows(*path[block_index], g, State::in_ram) >= n_needed)
                    continue;
                const TierRecord& tier = path[block_index]->tier;
                plan.items.push_back(
                    {path[block_index]->id, block_index, g, tier.ref, tier.n_tokens});
            }
    return plan;
}

bool NaivePrefixCache::load_back(const NaiveLoadItem& item, const NaiveRef& block) {
    Entry* entry = by_id(item.entry);
    if (!entry || entry->tier.ref != item.ref || entry->tier.n_tokens != item.n_tokens)
        return false;
    if (block_index_of(*entry) > 0 && !covering(entry->ns, above(*entry), Kind::resident))
        return false;
    if (entry->groups[item.group].n_rows >= item.n_tokens) return false;
    entry->groups[item.group] = {block, item.n_tokens};
    if (entry->is_resident) {
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
    const uint64_t resident = put(
        entry->ns, first_tokens(entry->path, begin_of(*entry) + record.n_tokens), offer, report);
    if (by_id(resident)->tier.n_tokens < record.n_tokens) by_id(resident)->tier = record;
    touch(resident, 0);
    return true;
}

void NaivePrefixCache::lose(const NaiveLoadItem& item) {
    Entry* entry = by_id(item.entry);
    if (!entry || entry->tier.ref != item.ref) return;
    entry->tier = {};
    if (!entry->is_resident) clear_read(*entry);
}

std::vector<NaiveSaveItem> NaivePrefixCache::unsaved(uint32_t ns, const NaiveTokens& tokens) const {
    std::vector<NaiveSaveItem> items;
    for (const Entry* entry : walk_resident(ns, tokens)) {
        const auto n_tokens = static_cast<uint32_t>(entry->path.size() - begin_of(*entry));
        uint32_t mask = 0;
        for (uint32_t g = 0; g < entry->groups.size(); ++g)
            mask |= uint32_t{entry->groups[g].n_rows == n_tokens} << g;
        const uint32_t saved = entry->tier.group_mask;
        const bool gains =
            entry->tier.n_tokens < n_tokens || ((mask | saved) != saved && (mask | saved) == mask);
        if (gains) items.push_back({entry->id, block_index_of(*entry), n_tokens, mask});
    }
    return items;
}

void NaivePrefixCache::note_saved(uint64_t id, TierRef ref, uint32_t group_mask,
                                  uint32_t n_tokens) {
    Entry* entry = by_id(id);
    if (!entry || n_tokens > entry->path.size() - begin_of(*entry)) return;
    const bool is_longer = n_tokens > entry->tier.n_tokens;
    const bool is_wider =
        n_tokens == entry->tier.n_tokens && (entry->tier.group_mask | group_mask) == group_mask;
    if (!is_longer && !is_wider) return;
    entry->tier = {ref, group_mask, n_tokens};
    if (!entry->is_resident) clear_read(*entry);
}

// The parent is known.
bool NaivePrefixCache::add_offloaded(uint32_t ns, const NaiveTokens& path, TierRef ref,
                                     uint32_t group_mask) {
    if (options_.n_offloaded == 0) return false;
    Entry* known = covering(ns, path, Kind::resident);
    if (!known) known = covering(ns, path, Kind::offloaded);
    if (!known) {
        known = beginning(ns, path, Kind::offloaded);
        if (known) known->path = path;
    }
    if (!known) {
        entries_.push_back({.id = next_id_++, .ns = ns, .path = path, .is_resident = false});
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
    trim_offloaded();
    return by_id(id) != nullptr;
}

void NaivePrefixCache::drop_tier(const std::function<bool(TierRef)>& is_gone) {
    for (Entry& entry : entries_) {
        if (entry.tier.ref == kNoTier || !is_gone(entry.tier.ref)) continue;
        entry.tier = {};
        if (!entry.is_resident) clear_read(entry);
    }
}

uint32_t NaivePrefixCache::n_blocks() const {
    uint32_t n = 0;
    for (const Entry& entry : entries_)
        for (const Share& share : entry.groups) n += share.ref != nullptr;
    return n;
}

uint32_t NaivePrefixCache::n_offloaded() const {
    return static_cast<uint32_t>(
        std::ranges::count_if(entries_, [](const Entry& entry) { return !entry.is_resident; }));
}

}  // namespace kvik
