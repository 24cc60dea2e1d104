// FileDescriptor: an open file that is closed with its owner. Negative: none.
#pragma once

#include <unistd.h>

#include <utility>

namespace kvik::cli {

class FileDescriptor {
  public:
    explicit FileDescriptor(int fd) : fd_(fd) {}
    ~FileDescriptor() {
        if (fd_ >= 0) ::close(fd_);
    }
    FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    FileDescriptor& operator=(FileDescriptor&&) = delete;

    int get() const { return fd_; }

  private:
    int fd_;
};

}  // namespace kvik::cli
