#include <cstring>

#include "capi/handles.h"
#include "ir/utf8.h"

namespace ingot::capi {

namespace {
// Statuses that can be returned when no memory is left, or where nothing may be allocated.
ingot_status* fixed(Code code) noexcept {
  static ingot_status out_of_memory{Code::out_of_memory, {}};
  static ingot_status out_of_range{Code::out_of_range, {}};
  static ingot_status cancelled{Code::cancelled, {}};
  static ingot_status not_ready{Code::not_ready, {}};
  switch (code) {
    case Code::out_of_memory: return &out_of_memory;
    case Code::out_of_range: return &out_of_range;
    case Code::cancelled: return &cancelled;
    case Code::not_ready: return &not_ready;
    default: return nullptr;
  }
}

const char* fixed_message(Code code) noexcept {
  switch (code) {
    case Code::out_of_memory: return "out of memory";
    case Code::out_of_range: return "an index is out of range";
    case Code::cancelled: return "the run was cancelled";
    case Code::not_ready: return "not ready";
    default: return "";
  }
}

// Messages repeat what hosts pass in, which may be anything: what is no UTF-8, or would end or garble the text, is
// escaped.
std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (;;) {
    const size_t good = std::min(ir::find_bad_utf8(text), text.size());
    for (size_t i = 0; i < good || (i == good && good < text.size()); ++i) {
      const auto c = static_cast<unsigned char>(text[i]);
      if (i < good && c != 0x7f && (c >= 0x20 || c == '\n' || c == '\t')) {
        out += text[i];
        continue;
      }
      constexpr char digits[] = "0123456789abcdef";
      out += "\\x";
      out += digits[c >> 4];
      out += digits[c & 15];
    }
    if (good == text.size()) return out;
    text.remove_prefix(good + 1);
  }
}

}  // namespace

ingot_status* make_status(Code code, std::string_view message) noexcept {
  // OUT_OF_RANGE tells which op and index it was, if there is memory for that.
  ingot_status* const constant = fixed(code);
  if (constant && (code != Code::out_of_range || message.empty())) return constant;
  try {
    auto s = std::make_unique<ingot_status>();
    s->code = code;
    s->message = printable(message);
    return s.release();
  } catch (...) {
    return constant ? constant : fixed(Code::out_of_memory);
  }
}

std::string_view text(const char* p, size_t length, const char* name) {
  if (!p) {
    if (length != 0 && length != INGOT_NUL) fail(Code::invalid_argument, name, " is NULL but its length is ", length);
    return {};
  }
  return {p, length == INGOT_NUL ? std::strlen(p) : length};
}

std::string_view name_text(const char* p, size_t length, const char* name) {
  const std::string_view given = text(p, length, name);
  if (const size_t at = ir::find_bad_utf8(given); at != std::string_view::npos)
    fail(Code::invalid_argument, name, " is not UTF-8 at byte ", at);
  return given;
}

}  // namespace ingot::capi

using namespace ingot;

extern "C" {

ingot_code ingot_status_code(const ingot_status* status) {
  return status ? static_cast<ingot_code>(status->code) : INGOT_OK;
}

void ingot_status_message(const ingot_status* status, const char** text, size_t* length) {
  const char* p = "";
  if (status) p = capi::fixed(status->code) == status ? capi::fixed_message(status->code) : status->message.c_str();
  if (text) *text = p;
  if (length) *length = status && capi::fixed(status->code) != status ? status->message.size() : std::strlen(p);
}

void ingot_status_release(ingot_status* status) {
  if (status && capi::fixed(status->code) != status) delete status;
}

void ingot_buffer_data(const ingot_buffer* buffer, const char** data, size_t* size) {
  if (data) *data = buffer ? buffer->bytes.c_str() : "";
  if (size) *size = buffer ? buffer->bytes.size() : 0;
}

void ingot_buffer_release(ingot_buffer* buffer) { delete buffer; }

}  // extern "C"
