#include "jit/image/image.h"

#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "base/error.h"
#include "jit/image/mapping.h"

using namespace ingot;
using namespace ingot::jit;

namespace {

// void f(const Frame* frame) { frame->acc[0] = 42; } by hand, so that loading needs no compiler.
#if defined(__x86_64__)
const std::vector<uint8_t> code = {0x48, 0x8B, 0x47, 0x20, 0xC6, 0x00, 0x2A, 0xC3};
constexpr const char* target = "x86-64-v2";
#else
const std::vector<uint8_t> code = {0x08, 0x10, 0x40, 0xF9, 0x49, 0x05, 0x80, 0x52,
                                   0x09, 0x01, 0x00, 0x39, 0xC0, 0x03, 0x5F, 0xD6};
constexpr const char* target = "aarch64";
#endif
static_assert(offsetof(Frame, acc) == 0x20);

Artifact by_hand() {
  Artifact a;
  a.target = target;
  a.entries = {{"sweep0", 0}, {"sweep1", 0}, {"row", 0}};
  a.symbols = {{"sweep0", 0, code.size()}};
  a.image = code;
  return a;
}

// The permissions of the mapping that holds an address, "r-xp".
std::string permissions(const void* address) {
  std::ifstream maps("/proc/self/maps");
  std::string line;
  while (std::getline(maps, line)) {
    unsigned long begin = 0, end = 0;
    char mode[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, mode) != 3) continue;
    const auto at = reinterpret_cast<unsigned long>(address);
    if (at >= begin && at < end) return mode;
  }
  return {};
}

Code code_of(const std::vector<uint8_t>& bytes, std::string_view host = host_target()) {
  try {
    load(bytes, host);
    return Code::ok;
  } catch (const Error& e) {
    return e.code();
  }
}

}  // namespace

TEST_CASE("a loaded image runs, and its pages are never writable and executable") {
  const auto body = load(encode_artifact(by_hand()));
  CHECK(body->compiled());
  CHECK(body->sweeps() == 2);
  CHECK(body->symbols().size() == 1);
  CHECK(permissions(body->code()) == "r-xp");
  char acc = 0;
  Frame frame{};
  frame.acc = &acc;
  body->sweep(1, frame);
  CHECK(acc == 42);
  acc = 0;
  body->row(frame);
  CHECK(acc == 42);
  acc = 0;
  body->sweep(2, frame);  // there is none
  CHECK(acc == 0);
}

TEST_CASE("code is unmapped with the last reference") {
  auto body = load(encode_artifact(by_hand()));
  const uint8_t* at = body->code();
  auto other = body;
  body.reset();
  CHECK(permissions(at) == "r-xp");
  other.reset();
  CHECK(permissions(at).empty());
}

namespace {
// Clang's check of function types reads the bytes before a function, which lie before the mapping here.
#if defined(__clang__)
__attribute__((no_sanitize("function")))
#endif
void call(const uint8_t* at, const Frame& frame) {
  reinterpret_cast<void (*)(const Frame*)>(const_cast<uint8_t*>(at))(&frame);
}
}  // namespace

TEST_CASE("both ways to executable memory work") {
  for (const auto how : {CodeMapping::How::mprotect, CodeMapping::How::memfd, CodeMapping::How::any}) {
    const CodeMapping mapping(code, how);
    CHECK(permissions(mapping.data()) == "r-xp");
    char acc = 0;
    Frame frame{};
    frame.acc = &acc;
    call(mapping.data(), frame);
    CHECK(acc == 42);
  }
}

TEST_CASE("code of a level that the processor lacks is refused") {
  Artifact a = by_hand();
  a.target = "x86-64-v4";
  CHECK(code_of(encode_artifact(a), "x86-64-v3") == Code::failed_precondition);
  CHECK(code_of(encode_artifact(a), "aarch64") == Code::failed_precondition);
  a.target = "something";
  CHECK(code_of(encode_artifact(a)) == Code::failed_precondition);
}

TEST_CASE("entries that are no sweeps in order are refused") {
  Artifact a = by_hand();
  a.entries = {{"sweep1", 0}};
  CHECK(code_of(encode_artifact(a)) == Code::invalid_argument);
  a.entries = {{"sweep0", 0}, {"main", 0}};
  CHECK(code_of(encode_artifact(a)) == Code::invalid_argument);
  a.entries = {{"row", 0}};
  CHECK(code_of(encode_artifact(a)) == Code::invalid_argument);
  CHECK(code_of({}) == Code::invalid_argument);
}

TEST_CASE("a batch lies in one mapping, each image at its alignment, and what is no artifact is left out") {
  Artifact aligned = by_hand(), nameless = by_hand(), foreign = by_hand();
  aligned.alignment = 256;
  nameless.entries.clear();
  foreign.target = by_hand().target == "aarch64" ? "x86-64-v2" : "aarch64";
  std::vector<uint8_t> damaged = encode_artifact(by_hand());
  damaged.back() ^= 1;
  const std::vector<uint8_t> bytes[] = {encode_artifact(by_hand()), damaged,
                                        encode_artifact(aligned),   encode_artifact(nameless),
                                        encode_artifact(by_hand()), encode_artifact(foreign)};
  auto bodies = load_batch(std::vector<std::span<const uint8_t>>(std::begin(bytes), std::end(bytes)));
  REQUIRE(bodies.size() == 6);
  for (const size_t i : {1, 3, 5}) CHECK_FALSE(bodies[i]);
  const auto page = [&](size_t i) { return reinterpret_cast<uintptr_t>(bodies[i]->code()) / 4096; };
  for (const size_t i : {0, 2, 4}) {
    REQUIRE(bodies[i]);
    CHECK(page(i) == page(0));
    CHECK(reinterpret_cast<uintptr_t>(bodies[i]->code()) % (i == 2 ? 256 : 64) == 0);
    CHECK(bodies[i]->code_size() == code.size());
    CHECK(permissions(bodies[i]->code()) == "r-xp");
  }
  // Each keeps the mapping alive.
  const auto last = bodies[4];
  bodies.clear();
  char acc = 0;
  Frame frame{};
  frame.acc = &acc;
  last->sweep(0, frame);
  CHECK(acc == 42);
  CHECK(load_batch({}).empty());
}
