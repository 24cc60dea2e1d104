// DiskFaults: what a test may let go wrong between the tier and the disk. Nothing goes wrong where
// there is none.
//
// Threads called from the writer's thread and from those that read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace kvik {

class DiskFaults {
  public:
    virtual ~DiskFaults() = default;

    // An errno for opening or making this path, or 0.
    virtual int fail_open(const std::string& /*path*/) { return 0; }
    // An errno for this write, or 0. Less in n_bytes makes it a short one.
    virtual int fail_write(uint64_t /*offset*/, size_t& /*n_bytes*/) { return 0; }
    // An errno for this read, or 0.
    virtual int fail_read(uint64_t /*offset*/, size_t /*n_bytes*/) { return 0; }
    // What was read, before anybody looks at it.
    virtual void spoil_read(uint64_t /*offset*/, std::span<std::byte> /*bytes*/) {}
};

}  // namespace kvik
