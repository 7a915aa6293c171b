#include "error.h"

namespace ingot::tool {

namespace {

// What the caller handed in was wrong, this build or machine cannot do it, or it did not work out.
Exit exit_of(ingot_code code) {
  switch (code) {
    case INGOT_INVALID_ARGUMENT:
    case INGOT_OUT_OF_RANGE:
    case INGOT_NOT_FOUND: return exit_bad_input;
    case INGOT_UNIMPLEMENTED:
    case INGOT_FAILED_PRECONDITION:
    case INGOT_UNAVAILABLE: return exit_unsupported;
    default: return exit_failed;
  }
}

const char* name_of(ingot_code code) {
  switch (code) {
    case INGOT_OUT_OF_MEMORY: return "out of memory";
    case INGOT_CANCELLED: return "cancelled";
    case INGOT_OUT_OF_RANGE: return "an index is out of range";
    default: return "failed";
  }
}

}  // namespace

void check(ingot_status* status, const std::string& where) {
  if (!status) return;
  const ingot_code code = ingot_status_code(status);
  const char* text = "";
  size_t length = 0;
  ingot_status_message(status, &text, &length);
  std::string message(text, length);
  ingot_status_release(status);
  // Statuses that must not allocate carry no text of their own.
  if (message.empty()) message = name_of(code);
  throw ToolError(exit_of(code), where + message);
}

}  // namespace ingot::tool
