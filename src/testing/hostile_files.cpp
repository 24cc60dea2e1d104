#include "testing/hostile_files.h"

#include <fstream>

#include "base/check.h"

namespace kvik {

std::string write_files(const HostileFile& file, const std::string& folder) {
    for (const HostileFile::Part& part : file.parts) {
        std::ofstream out(folder + "/" + part.name, std::ios::binary);
        out.write(reinterpret_cast<const char*>(part.bytes.data()),
                  static_cast<std::streamsize>(part.bytes.size()));
        out.close();
        KVIK_CHECK(!out.fail(), "a test can write where it was told to");
    }
    return file.open.empty() ? folder : folder + "/" + file.open;
}

}  // namespace kvik
