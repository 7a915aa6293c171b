#include "page.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "error.h"
#include "roofline.h"

namespace ingot::tool {

namespace {

using nlohmann::json;

constexpr std::string_view style = R"(
:root { --ink: #1c2330; --soft: #5b6475; --line: #d9dee7; --paper: #f6f7f9; --card: #fff; --accent: #2563b0; --good: #2e7d4f; --bar: #a9b4c6; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e4e8ef; --soft: #98a2b3; --line: #323a48; --paper: #14181f; --card: #1d232d; --accent: #7cb1f5; --good: #6cc794; --bar: #4a5568; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 72rem; padding: 2rem 1.5rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; } h2 { font-size: 1.15rem; margin: 2.2rem 0 .7rem; } h3 { font-size: 1rem; margin: 0; }
p { margin: .3rem 0; } .soft { color: var(--soft); }
code, pre { font: 13px/1.5 ui-monospace, monospace; }
pre { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: .8rem 1rem; overflow-x: auto; margin: .5rem 0; }
.facts { display: flex; flex-wrap: wrap; gap: .8rem; margin: 1.2rem 0; }
.fact { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: .6rem 1rem; min-width: 9rem; }
.fact b { display: block; font-size: 1.35rem; } .fact span { color: var(--soft); font-size: .85rem; }
.card { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 1rem 1.2rem; margin: .8rem 0; }
.card pre { background: var(--paper); }
.chip { display: inline-block; border: 1px solid var(--accent); color: var(--accent); border-radius: 999px; padding: 0 .6rem;
  margin: .3rem .3rem 0 0; font: 13px/1.6 ui-monospace, monospace; }
table { border-collapse: collapse; margin: .8rem 0; width: 100%; font-size: .9rem; }
th { text-align: left; font-weight: 600; color: var(--soft); } th, td { padding: .25rem .8rem .25rem 0; border-bottom: 1px solid var(--line); }
td.number, th.number { text-align: right; padding-right: 0; }
summary { cursor: pointer; color: var(--accent); margin-top: .5rem; }
.bar { display: grid; grid-template-columns: 6rem 1fr 7rem; gap: .8rem; align-items: center; margin: .35rem 0; font-size: .9rem; }
.bar i { display: block; height: .9rem; border-radius: 4px; background: var(--bar); } .bar.good i { background: var(--good); }
.bar span:last-child { text-align: right; }
)";

std::string escaped(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '&') out += "&amp;";
    else if (c == '<') out += "&lt;";
    else if (c == '>') out += "&gt;";
    else if (c == '"') out += "&quot;";
    else out += c;
  }
  return out;
}

std::string text_of(const json& value) { return escaped(value.get<std::string>()); }

class Page {
 public:
  explicit Page(const Explained& e)
      : fused_(e.fused), unfused_(e.unfused), symbols_(e.symbols), report_(e.device ? &*e.device : nullptr) {}

  std::string run() {
    const json& j = fused_.json();
    const std::string name = text_of(j["name"]);
    out_ =
        cat("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>",
            name, " - ingot explain</title>\n<style>", style, "</style></head>\n<body>\n<h1>",
            name.empty() ? "graph" : name, "</h1>\n<p class=\"soft\">How Ingot fuses this graph.</p>\n");
    facts();
    traffic();
    if (report_) device();
    add("<h2>Graph</h2>\n<pre>", text_of(j["source"]), "</pre>\n");
    if (j["graph"] != j["source"])
      add("<details><summary>after rewriting, as it was planned</summary><pre>", text_of(j["graph"]),
          "</pre></details>\n");
    add("<h2>Launches</h2>\n");
    for (size_t s = 0; s < fused_.steps().size(); ++s) card(s);
    edges();
    shared();
    add("</body></html>\n");
    return std::move(out_);
  }

 private:
  template <class... Parts>
  void add(const Parts&... parts) {
    out_ += cat(parts...);
  }

  void fact(const std::string& value, const std::string& what) {
    add("<div class=\"fact\"><b>", escaped(value), "</b><span>", escaped(what), "</span></div>\n");
  }

  void facts() {
    const json& j = fused_.json();
    add("<div class=\"facts\">\n");
    const size_t ops = j["ops"], kernels = j["kernels"];
    fact(cat(ops), ops == 1 ? "op" : "ops");
    fact(cat(unfused_.steps().size(), " \xe2\x86\x92 ", fused_.steps().size()), "launches, unfused to fused");
    fact(cat(kernels), kernels == 1 ? "distinct kernel" : "distinct kernels");
    fact(cat(unfused_.json()["buffers"].size(), " \xe2\x86\x92 ", j["buffers"].size()),
         "values stored between launches");
    if (symbols_) {
      const double before = static_cast<double>(unfused_.traffic(*symbols_).total());
      const double after = static_cast<double>(fused_.traffic(*symbols_).total());
      fact(bytes_text(before - after), cat("not moved, ", before > 0 ? std::lround((before - after) / before * 100) : 0,
                                           " % of ", bytes_text(before)));
    }
    add("</div>\n");
  }

  void bar(const char* what, uint64_t bytes, uint64_t most, bool good) {
    const double width = most > 0 ? static_cast<double>(bytes) / static_cast<double>(most) * 100 : 0;
    add("<div class=\"bar", good ? " good" : "", "\"><span>", what, "</span><i style=\"width: ", width,
        "%\"></i><span>", bytes_text(static_cast<double>(bytes)), "</span></div>\n");
  }

  void traffic() {
    add("<h2>Memory traffic</h2>\n");
    if (!symbols_) {
      std::string flags;
      for (const std::string& s : fused_.symbols()) flags += " --shape " + s + "=NUMBER";
      add("<p class=\"soft\">Give sizes to see bytes: <code>ingot explain", escaped(flags), "</code></p>\n");
      return;
    }
    std::string sizes;
    for (const auto& [name, value] : *symbols_) sizes += cat(sizes.empty() ? "" : ", ", name, " = ", value);
    if (!sizes.empty())
      add("<p class=\"soft\">For ", escaped(sizes),
          ". Each view of a tensor counts once a launch, with the extents it covers that reads or writes it.</p>\n");
    const uint64_t before = unfused_.traffic(*symbols_).total(), after = fused_.traffic(*symbols_).total();
    bar("unfused", before, std::max(before, after), false);
    bar("fused", after, std::max(before, after), true);
  }

  void device() {
    const json& r = *report_;
    add("<h2>Device</h2>\n");
    if (r["target"].is_null()) add("<p>No code: no target is given, and there is no device.</p>\n");
    else add("<p>Code for ", text_of(r["target"]), ".</p>\n");
    const json* const d = device_of(r);
    if (d)
      add("<p>", text_of((*d)["name"]), ": ", (*d)["multiprocessors"].get<int>(), " multiprocessors, memory ",
          rate_text((*d)["bytes_per_s"], "bytes"), ", arithmetic ", rate_text((*d)["f32_per_s"], "operations on f32"),
          " or ", rate_text((*d)["f64_per_s"], "on f64"), " a second, by the clocks that the driver tells.</p>\n");
    else if (r.contains("driver_error")) add("<p class=\"soft\">No times: ", text_of(r["driver_error"]), "</p>\n");
    else add("<p class=\"soft\">No times: no device here runs this code.</p>\n");
  }

  static std::string rate_text(const json& rate, const char* unit) {
    const auto value = rate.get<double>();
    return value == 0 ? cat("unknown ", unit) : cat(std::lround(value / 1e9), "e9 ", unit);
  }

  // Of an entry's launches with the sizes at hand; empty where another form is launched.
  static std::string blocks_of(const json& stages, const json& entry) {
    std::string out;
    for (const json& stage : stages)
      if (stage["entry"] == entry) out += cat(out.empty() ? "" : ", ", stage["blocks"].get<uint64_t>());
    return out;
  }

  // What a launch computes, and on a device what its kernel takes there.
  void work(size_t index) {
    const json& step = fused_.steps()[index];
    if (symbols_ && step["kernel"].get<int64_t>() >= 0) {
      const Work w = step_work(step, *symbols_);
      char text[160];
      std::snprintf(text, sizeof text, "%.0f float operations, %.3g a byte moved", w.ops(), w.intensity());
      add("<p title=\"Counted: ", float_operation, "\">", text);
      const json* const d = report_ ? device_of(*report_) : nullptr;
      if (const auto least = d ? bound(w, *d) : std::nullopt) {
        std::snprintf(text, sizeof text, "; at least %.3g us, by its %s", least->seconds * 1e6,
                      least->by_memory ? "memory" : "arithmetic");
        add(text);
      }
      add(".</p>\n");
    }
    if (!report_) return;
    const json& code = (*report_)["steps"][index];
    if (code.contains("error")) return add("<p class=\"soft\">Not compiled: ", text_of(code["error"]), "</p>\n");
    add("<table><tr><th>entry</th><th class=\"number\">threads a block</th><th class=\"number\">registers</th>"
        "<th class=\"number\">shared memory</th><th class=\"number\">blocks a multiprocessor</th>"
        "<th class=\"number\">occupancy</th><th>limited by</th>",
        code.contains("stages") ? "<th class=\"number\">launched, blocks</th>" : "", "</tr>\n");
    for (const json& e : code["entries"]) {
      const auto number = [&](const std::string& value) { add("<td class=\"number\">", value, "</td>"); };
      add("<tr><td><code>", text_of(e["name"]), "</code></td>");
      number(cat(e["threads"].get<int>()));
      number(cat(e["registers"].get<int>()));
      number(bytes_text(e["shared_bytes"].get<double>()));
      number(e.contains("blocks") ? cat(e["blocks"].get<int>()) : "?");
      number(e.contains("blocks")
                 ? cat(std::lround(100.0 * e["warps"].get<double>() / e["most_warps"].get<double>()), " %")
                 : "?");
      add("<td>", e.contains("limited_by") ? text_of(e["limited_by"]) : "", "</td>");
      if (code.contains("stages")) number(blocks_of(code["stages"], e["name"]));
      add("</tr>\n");
    }
    add("</table>\n");
  }

  void card(size_t index) {
    const json& step = fused_.steps()[index];
    const auto kernel = step["kernel"].get<int64_t>();
    add("<div class=\"card\" id=\"launch", index, "\"><h3>Launch ", index, " <span class=\"soft\">",
        kernel < 0 ? std::string("no kernel") : cat("kernel ", kernel), ", over ", text_of(step["sizes"]), ", ",
        counted(step["nodes"].get<size_t>(), "node", "nodes"), "</span></h3>\n<div>");
    for (const auto& op : step["ops"])
      add("<span class=\"chip\" title=\"", text_of(op["result"]), "\">", text_of(op["name"]), "</span>");
    if (step["ops"].empty()) add("<span class=\"chip\">copy</span>");
    add("</div>\n<table><tr><th>tensor</th><th></th><th>dtype</th><th>extents</th>",
        symbols_ ? "<th class=\"number\">bytes</th>" : "", "</tr>\n");
    for (const auto& t : step["tensors"]) {
      add("<tr><td>", escaped(fused_.tensor_name(t)), "</td><td>", t["store"].get<bool>() ? "written" : "read",
          "</td><td>", text_of(t["dtype"]), "</td><td><code>", text_of(t["extents"]), "</code></td>");
      if (symbols_)
        add("<td class=\"number\">", bytes_text(static_cast<double>(Plan::tensor_bytes(t, *symbols_))), "</td>");
      add("</tr>\n");
    }
    add("</table>\n");
    work(index);
    add("<details><summary>kernel</summary><pre>", text_of(step["text"]),
        "</pre></details>\n<details><summary>schedule</summary><pre>", text_of(step["schedule"]),
        "</pre></details></div>\n");
  }

  void edges() {
    const json& list = fused_.json()["edges"];
    add("<h2>Values that are stored between launches</h2>\n");
    if (list.empty()) {
      add("<p>None: everything between inputs and outputs stays inside its kernel.</p>\n");
      return;
    }
    add("<table><tr><th>value</th><th>from</th><th>to</th><th>why</th></tr>\n");
    for (const auto& e : list)
      add("<tr><td><code>", text_of(e["value"]), "</code></td><td>", launch(e["from"]), "</td><td>", launch(e["to"]),
          "</td><td>", text_of(e["reason"]), "</td></tr>\n");
    add("</table>\n");
  }

  void shared() {
    const json& list = fused_.json()["shared"];
    if (list.empty()) return;
    add("<h2>Inputs that several launches read</h2>\n"
        "<table><tr><th>input</th><th>by</th><th>and</th><th>why they are two</th></tr>\n");
    for (const auto& s : list)
      add("<tr><td><code>", text_of(s["value"]), "</code></td><td>", launch(s["first"]), "</td><td>",
          launch(s["second"]), "</td><td>", text_of(s["reason"]), "</td></tr>\n");
    add("</table>\n");
  }

  static std::string launch(size_t index) { return cat("<a href=\"#launch", index, "\">launch ", index, "</a>"); }

  const Plan& fused_;
  const Plan& unfused_;
  const std::optional<Symbols>& symbols_;
  const json* const report_;  // null where the backend is not CUDA
  std::string out_;
};

}  // namespace

std::string explain_page(const Explained& explained) { return Page(explained).run(); }

}  // namespace ingot::tool
