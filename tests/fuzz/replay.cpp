// SPDX-License-Identifier: LGPL-2.1-or-later
/// Without a fuzzer: replay SECONDS [PATH...]
/// Gives a target the files and those of folders, then changes them at random for so many seconds of
/// processor time. Without a path, each input is made of random bytes. CUDACCL_FUZZ_SEED is the seed; without
/// it, it is another one each time. An input that fails is kept.
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

using Input = std::vector<uint8_t>;

constexpr size_t kMaxSize = 4096;  // of what is changed, as in scripts/fuzz
/// For one input, in processor time.
constexpr itimerval kMaxRun{.it_interval = {}, .it_value = {.tv_sec = 60, .tv_usec = 0}};

/// What a target has at the moment. Its process writes it, and the one that waits for it keeps it.
struct Current {
  size_t size;
  uint8_t bytes[1 << 20];
};

Input read(const std::filesystem::path& path) {
  std::ifstream file;
  file.exceptions(std::ios::failbit);
  file.open(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<Input> read_all(int n_paths, char** paths) {
  std::vector<std::filesystem::path> files;
  for (int i = 0; i < n_paths; ++i) {
    if (std::filesystem::is_directory(paths[i])) {
      for (const auto& entry : std::filesystem::directory_iterator(paths[i])) {
        files.push_back(entry.path());
      }
    } else {
      files.emplace_back(paths[i]);
    }
  }
  std::sort(files.begin(), files.end());  // a seed makes the same inputs everywhere
  std::vector<Input> inputs;
  std::transform(files.begin(), files.end(), std::back_inserter(inputs), read);
  return inputs;
}

void run(const Input& input, Current* current) {
  current->size = std::min(input.size(), sizeof current->bytes);
  std::copy_n(input.begin(), current->size, current->bytes);
  setitimer(ITIMER_PROF, &kMaxRun, nullptr);  // an input with which it does not end is kept, too
  LLVMFuzzerTestOneInput(input.data(), input.size());
}

class Changer {
 public:
  Changer(const std::vector<Input>& inputs, unsigned seed) : inputs_(inputs), random_(seed) {}

  Input next() {
    if (inputs_.empty()) {
      Input input(below(kMaxSize));
      std::generate(input.begin(), input.end(), [this] { return static_cast<uint8_t>(below(256)); });
      return input;
    }
    Input input = any();
    for (size_t n = 1 + below(4); n > 0; --n) {
      change(&input);
    }
    input.resize(std::min(input.size(), kMaxSize));
    return input;
  }

 private:
  size_t below(size_t end) { return random_() % end; }
  const Input& any() { return inputs_[below(inputs_.size())]; }

  void change(Input* input) {
    const size_t place = below(input->size() + 1);
    const size_t rest = input->size() - place;
    const auto at = input->begin() + static_cast<std::ptrdiff_t>(place);
    switch (rest > 0 ? below(5) : 4) {
      case 0:
        *at ^= static_cast<uint8_t>(1U << below(8));
        break;
      case 1:
        *at = static_cast<uint8_t>(below(256));
        break;
      case 2:
        *at = static_cast<uint8_t>(*at + 255 + below(3));  // one less, the same, or one more
        break;
      case 3:
        input->erase(at, at + static_cast<std::ptrdiff_t>(1 + below(std::min<size_t>(rest, 16))));
        break;
      default: {  // a part of another input
        const Input& other = any();
        const size_t begin = below(other.size() + 1);
        const size_t size = std::min<size_t>(other.size() - begin, 1 + below(64));
        input->insert(at, other.data() + begin, other.data() + begin + size);
      }
    }
  }

  const std::vector<Input>& inputs_;
  std::mt19937_64 random_;
};

void run_all(const std::vector<Input>& inputs, unsigned seed, double seconds, Current* current) {
  for (const Input& input : inputs) {
    run(input, current);
    run({input.begin(), input.begin() + static_cast<std::ptrdiff_t>(input.size() / 2)}, current);
  }
  Changer changer(inputs, seed);
  size_t n_changed = 0;
  for (const std::clock_t end = std::clock() + static_cast<std::clock_t>(seconds * CLOCKS_PER_SEC);
       std::clock() < end; ++n_changed) {
    run(changer.next(), current);
  }
  std::printf("%zu files, and %zu inputs made of them\n", inputs.size(), n_changed);
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<Input> inputs = read_all(std::max(argc - 2, 0), argv + 2);
  void* shared = mmap(nullptr, sizeof(Current), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if ((inputs.empty() && argc > 2) || argc < 2 || shared == MAP_FAILED) {
    std::fprintf(stderr, "no seconds, no files at these paths, or no memory for inputs\n");
    return EXIT_FAILURE;
  }
  const char* wanted = std::getenv("CUDACCL_FUZZ_SEED");
  const unsigned seed =
      wanted != nullptr ? static_cast<unsigned>(std::strtoul(wanted, nullptr, 10)) : std::random_device()();
  std::printf("CUDACCL_FUZZ_SEED=%u\n", seed);
  std::fflush(stdout);
  auto* current = static_cast<Current*>(shared);
  const pid_t child = fork();
  if (child == 0) {
    run_all(inputs, seed, std::strtod(argv[1], nullptr), current);
    std::exit(EXIT_SUCCESS);
  }
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && status == 0) {
    return EXIT_SUCCESS;
  }
  const std::string kept =
      std::filesystem::path(argv[0]).filename().string() + "-failed-" + std::to_string(seed);
  std::ofstream(kept, std::ios::binary)
      .write(reinterpret_cast<const char*>(current->bytes), static_cast<std::streamsize>(current->size));
  std::printf("Status %d; the input is in %s\n", status, std::filesystem::absolute(kept).c_str());
  return EXIT_FAILURE;
}
