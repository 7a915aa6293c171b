#include "npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "error.h"
#include "files.h"

namespace ingot::tool {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t max_rank = 16;  // ingot_graph_input's

// The header is a Python dict of three entries: {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
class Header {
 public:
  Header(std::string_view text, const std::string& name) : text_(text), name_(name) {
    expect('{');
    while (!take('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") descr = descr_value();
      else if (key == "fortran_order") fortran = boolean();
      else if (key == "shape") shape = tuple();
      else bad("the header has an unknown entry '" + key + "'");
      ++entries_;
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    if (entries_ != 3 || descr.empty()) bad("the header does not hold descr, fortran_order and shape");
  }

  std::string descr;
  bool fortran = false;
  std::vector<int64_t> shape;

 private:
  [[noreturn]] void bad(const std::string& why) const { fail(exit_bad_input, name_, ": no .npy file: ", why); }
  void blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) bad(cat("at byte ", at_, " of the header expected '", c, "'"));
  }
  std::string string() {
    blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    if (quote != '\'' && quote != '"') bad(cat("at byte ", at_, " of the header expected a string"));
    const size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) bad("a string of the header does not end");
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string descr_value() {
    blanks();
    if (at_ < text_.size() && text_[at_] == '[') fail(exit_unsupported, name_, ": structured dtypes are not supported");
    return string();
  }
  bool boolean() {
    blanks();
    for (const std::string_view word : {"True", "False"})
      if (text_.substr(at_).starts_with(word)) {
        at_ += word.size();
        return word == "True";
      }
    bad("fortran_order is neither True nor False");
  }
  std::vector<int64_t> tuple() {
    std::vector<int64_t> out;
    expect('(');
    while (!take(')')) {
      blanks();
      int64_t extent = -1;
      const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), extent);
      if (error != std::errc{} || extent < 0) bad("an extent of shape is no number from 0 to 2^63-1");
      at_ = static_cast<size_t>(end - text_.data());
      if (out.size() == max_rank) fail(exit_unsupported, name_, ": more than ", max_rank, " dims");
      out.push_back(extent);
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  std::string_view text_;
  const std::string& name_;
  size_t at_ = 0;
  int entries_ = 0;
};

ingot_dtype type_of(const std::string& descr, const std::string& name, ingot_dtype wanted) {
  const char order = descr[0];
  const std::string_view kind = std::string_view(descr).substr(1);
  if (order == '<' || order == '|' || order == '=' || order == '>')
    for (ingot_dtype t = INGOT_BOOL; t <= INGOT_F8E5M2; ++t) {
      const DType& candidate = dtype(t);
      if (kind != candidate.npy || (kind[0] == 'V' && t != wanted)) continue;
      if (order == '>' && candidate.size() > 1)
        fail(exit_unsupported, name, ": big-endian data ('", descr, "'); numpy's astype('<", kind, "') converts it");
      return t;
    }
  fail(exit_unsupported, name, ": dtype '", descr, "' is not supported");
}

uint32_t little(std::string_view bytes) {
  uint32_t out = 0;
  for (size_t i = bytes.size(); i-- > 0;) out = out << 8 | static_cast<uint8_t>(bytes[i]);
  return out;
}

}  // namespace

Array read_npy(std::string_view bytes, const std::string& name, ingot_dtype wanted) {
  if (!bytes.starts_with(magic)) fail(exit_bad_input, name, ": no .npy file: it does not begin with \\x93NUMPY");
  if (bytes.size() < 12) fail(exit_bad_input, name, ": truncated: ", bytes.size(), " bytes");
  const auto major = static_cast<uint8_t>(bytes[6]);
  if (major < 1 || major > 3) fail(exit_unsupported, name, ": .npy version ", unsigned{major}, ", expected 1, 2 or 3");
  const size_t field = major == 1 ? 2 : 4, length = little(bytes.substr(8, field)), begin = 8 + field;
  if (bytes.size() - begin < length)
    fail(exit_bad_input, name, ": truncated: the header has ", length, " bytes, ", bytes.size() - begin, " are there");
  const Header header(bytes.substr(begin, length), name);
  const std::string_view data = bytes.substr(begin + length);
  const DType& type = dtype(type_of(header.descr, name, wanted));
  // Compared before anything is allocated: a header can claim any size.
  const int64_t size = byte_size(type, header.shape, name);
  if (data.size() != static_cast<size_t>(size))
    fail(exit_bad_input, name, ": ", data.size() < static_cast<size_t>(size) ? "truncated: " : "trailing bytes: ", type.name,
         shape_text(header.shape), " has ", size, " bytes, ", data.size(), " are there");
  Array out(type.number, header.shape, name);
  if (size > 0) std::memcpy(out.data(), data.data(), data.size());
  if (header.fortran) out.make_fortran();
  return out;
}

void write_npy(const Array& array, const std::string& path) {
  const DType& type = array.type();
  std::string header = cat("{'descr': '", type.size() == 1 || type.npy[0] == 'V' ? '|' : '<', type.npy, "', 'fortran_order': False, 'shape': (");
  for (const int64_t extent : array.shape()) header += cat(extent, ", ");
  // (3, ) is a tuple as (3,) is, but numpy writes the latter.
  if (array.shape().size() == 1) header.pop_back();
  else if (!array.shape().empty()) header.resize(header.size() - 2);
  header += "), }";
  // The data begins at a multiple of 64; a newline ends the header.
  const size_t prefix = magic.size() + 4;
  header.resize((prefix + header.size() + 1 + 63) / 64 * 64 - prefix - 1, ' ');
  header += '\n';
  std::string start(magic);
  start += {'\1', '\0', static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)};
  write_file(path, {start, header, array.view()});
}

}  // namespace ingot::tool
