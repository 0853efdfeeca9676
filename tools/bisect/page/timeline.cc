#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/bisect/page/markup.h"
#include "tools/bisect/page/sections.h"

namespace lockstep {
namespace {

constexpr int kTop = 26, kRow = 44, kMostMarks = 160;

// The steps that are drawn; a step's line stands at its number, and step 0 is
// the seed.
struct Span {
  double low = 0, high = 1;
  std::string At(double step) const { return Percent(step, low, high); }
};

std::string Bar(const std::string& css, const Span& span, double from,
                double to, int y, int height) {
  return absl::StrCat("<rect class=\"", css, "\" x=\"", span.At(from),
                      "\" y=\"", y, "\" width=\"",
                      Percent(to - from, 0, span.high - span.low),
                      "\" height=\"", height, "\" rx=\"2\"></rect>\n");
}

std::string Checkpoints(const BisectResult& r, const BisectRun& run,
                        const Span& span, int y) {
  std::string marks;
  const size_t count = run.checkpoints.size();
  const size_t every = count / kMostMarks + 1;
  for (size_t i = 0; i < count; i += every) {
    const int64_t step = run.checkpoints[i];
    const bool equal = std::binary_search(r.equal_checkpoints.begin(),
                                          r.equal_checkpoints.end(), step);
    absl::StrAppend(&marks, "<circle class=\"",
                    equal ? "checkpoint" : "checkpoint other", "\" cx=\"",
                    span.At(static_cast<double>(step)), "\" cy=\"", y,
                    "\" r=\"5\"><title>checkpoint of step ", step,
                    equal ? ", equal in both" : "", "</title></circle>\n");
  }
  return marks;
}

std::string RunRow(const BisectResult& r, const BisectRun& run,
                   const Span& span, int y) {
  const auto last = static_cast<double>(run.last_step);
  const double parts = r.step > 0 ? static_cast<double>(r.step) - 1 : last;
  const auto first = static_cast<double>(std::max<int64_t>(run.first_step, 1));
  std::string row = Bar("same", span, first - 1, std::min(parts, last), y, 10);
  if (last > parts) row += Bar("apart", span, parts, last, y, 10);
  return row + Checkpoints(r, run, span, y + 5);
}

std::string Line(const std::string& css, const std::string& x, int from,
                 int to) {
  return absl::StrCat("<line class=\"", css, "\" x1=\"", x, "\" x2=\"", x,
                      "\" y1=\"", from, "\" y2=\"", to, "\"></line>\n");
}

// Text that stays inside of the picture at both ends.
std::string Label(const std::string& css, const Span& span, double step, int y,
                  const std::string& text) {
  const double share = (step - span.low) / (span.high - span.low);
  const char* anchor = share < 0.15 ? "start" : share > 0.85 ? "end" : "middle";
  return absl::StrCat("<text class=\"", css, "\" x=\"", span.At(step),
                      "\" y=\"", y, "\" text-anchor=\"", anchor, "\">",
                      Escaped(text), "</text>\n");
}

std::string Names(const BisectResult& r) {
  const auto line = [](const char* name, const BisectRun& run) {
    return absl::StrCat(
        "<p class=\"run\"><b>", name, "</b> ", Element("code", "", run.path),
        " steps ", run.first_step, " to ", run.last_step, ", ",
        run.checkpoints.size(), " checkpoints",
        run.binary.empty()
            ? ""
            : absl::StrCat(", made by ", Element("code", "", run.binary)),
        "</p>\n");
  };
  return line("A", r.a) + line("B", r.b);
}

std::string Key(const char* css, const char* what) {
  return absl::StrCat("<span class=\"item\"><span class=\"key ", css,
                      "\"></span> ", what, "</span> ");
}

}  // namespace

std::string TimelineMarkup(const BisectResult& r) {
  const int64_t last = std::max({r.a.last_step, r.b.last_step, r.step});
  const auto end = static_cast<double>(std::max<int64_t>(last, 1));
  // A margin for the checkpoints at both ends.
  const Span span = {.low = -0.015 * end, .high = 1.015 * end};
  const int bottom = kTop + 2 * kRow;
  std::string svg = absl::StrCat(
      "<svg class=\"timeline\" width=\"100%\" height=\"", bottom + 24,
      "\" role=\"img\" aria-label=\"steps of both runs\">\n");
  const auto step = static_cast<double>(r.step);
  const auto began = static_cast<double>(r.began_at);
  if (r.step > 0 && r.replays > 0) {
    svg += Bar("window", span, began, step, kTop - 4, bottom - kTop);
  }
  svg +=
      RunRow(r, r.a, span, kTop + 12) + RunRow(r, r.b, span, kTop + 12 + kRow);
  svg += Label("name", span, 0, kTop + 6, "A") +
         Label("name", span, 0, kTop + 6 + kRow, "B");
  if (r.step > 0) {
    const double parting = step - 1;
    svg += Line("parting", span.At(parting), 16, bottom - 4);
    svg += Label("strong", span, parting, 12,
                 absl::StrCat("step ", r.step, " is the first that differs"));
  }
  svg += Label("axis", span, 0, bottom + 16, "start");
  svg += Label("axis", span, end, bottom + 16, absl::StrCat("step ", last));
  svg += "</svg>\n";
  return absl::StrCat(
      "<div class=\"figure\">", svg, "</div>\n", Names(r),
      "<p class=\"legend\">", Key("same", "equal"), Key("apart", "different"),
      Key("window", "done again"), Key("dot", "checkpoint, equal in both"),
      Key("dot other", "checkpoint of one, or different"), "</p>\n");
}

}  // namespace lockstep
