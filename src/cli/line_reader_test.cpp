#include "cli/line_reader.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <string_view>

namespace kvik::cli {
namespace {

struct Pipe {
    std::array<int, 2> ends{};
    Pipe() { EXPECT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0); }
    ~Pipe() {
        ::close(ends[0]);
        close_writer();
    }
    void write(std::string_view text) {
        EXPECT_EQ(::write(ends[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    void close_writer() {
        if (ends[1] >= 0) ::close(ends[1]);
        ends[1] = -1;
    }
};

using Got = LineReader::Got;

TEST(LineReader, lines_come_whole_however_they_were_written) {
    Pipe pipe;
    LineReader reader(pipe.ends[0], nullptr);
    std::string line;
    pipe.write("one\r\n\ntw");
    ASSERT_EQ(reader.next(line).value(), Got::line);
    EXPECT_EQ(line, "one");
    ASSERT_EQ(reader.next(line).value(), Got::line);
    EXPECT_EQ(line, "");
    pipe.write("o\nend");
    pipe.close_writer();
    ASSERT_EQ(reader.next(line).value(), Got::line);
    EXPECT_EQ(line, "two");
    ASSERT_EQ(reader.next(line).value(), Got::line);
    EXPECT_EQ(line, "end");
    EXPECT_EQ(reader.next(line).value(), Got::end);
    EXPECT_EQ(reader.next(line).value(), Got::end);
}

TEST(LineReader, rest_is_all_that_no_line_has_taken) {
    Pipe pipe;
    LineReader reader(pipe.ends[0], nullptr);
    std::string text;
    pipe.write("first\nsecond\nthird\n");
    pipe.close_writer();
    ASSERT_EQ(reader.next(text).value(), Got::line);
    ASSERT_EQ(reader.rest(text).value(), Got::end);
    EXPECT_EQ(text, "second\nthird\n");
}

TEST(LineReader, a_line_may_be_longer_than_a_read_by_any_number_of_bytes) {
    for (const size_t n_bytes : {65535u, 65536u, 65537u, 131072u}) {
        const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
        ASSERT_TRUE(file);
        std::fputs((std::string(n_bytes, 'x') + "\nnext\n").c_str(), file.get());
        std::rewind(file.get());
        LineReader reader(::fileno(file.get()), nullptr);
        std::string line;
        ASSERT_EQ(reader.next(line).value(), Got::line);
        EXPECT_EQ(line.size(), n_bytes);
        ASSERT_EQ(reader.next(line).value(), Got::line);
        EXPECT_EQ(line, "next");
    }
}

TEST(LineReader, an_interrupt_ends_the_wait_and_keeps_the_bytes) {
    Pipe pipe;
    Interrupts interrupts;
    LineReader reader(pipe.ends[0], &interrupts);
    std::string line;
    pipe.write("half");
    ::kill(::getpid(), SIGINT);
    EXPECT_EQ(reader.next(line).value(), Got::interrupt);
    pipe.write(" a line\n");
    ASSERT_EQ(reader.next(line).value(), Got::line);
    EXPECT_EQ(line, "half a line");
}

}  // namespace
}  // namespace kvik::cli
