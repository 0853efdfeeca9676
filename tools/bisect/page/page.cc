#include "tools/bisect/page/page.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/bisect/likely_cause.h"
#include "tools/bisect/page/markup.h"
#include "tools/bisect/page/sections.h"

namespace lockstep {
namespace {

std::string VerdictMarkup(const BisectResult& r) {
  std::string markup =
      absl::StrCat("<div class=\"verdict", r.equal() ? " good" : "", "\">",
                   Element("div", "word", BisectHeadline(r)));
  const std::string place = BisectPlace(r);
  if (!place.empty()) markup += Element("div", "place", place);
  if (r.step > 0) {
    markup += Element("p", "note",
                      absl::StrCat("Step ", r.step, " differs in ",
                                   absl::StrJoin(r.fields, ", "), "."));
  }
  return markup + "</div>\n";
}

std::string List(const std::vector<std::string>& items, const char* none) {
  if (items.empty()) return Element("p", "note", none);
  std::string list = "<ul>\n";
  for (const std::string& item : items) {
    list += Element("li", "", item) + "\n";
  }
  return list + "</ul>\n";
}

std::string DifferencesMarkup(const BisectResult& r) {
  if (r.differences.empty()) {
    return Element("p", "note", "The launches that made the step agree.");
  }
  std::vector<std::vector<std::string>> rows;
  for (const BisectDifference& d : r.differences) {
    rows.push_back({d.key, d.a, d.b, d.explains ? "yes" : "no"});
  }
  return TextTable({"key", "A", "B", "must change the bits"}, rows);
}

std::string CauseMarkup(const BisectResult& r) {
  if (r.cause.empty()) return Element("p", "note", "Nothing to explain.");
  std::vector<std::vector<std::string>> rows;
  for (const CauseRow& row : LikelyCauses(r)) {
    rows.push_back({row.symptom, row.cause, row.check, row.remedy});
  }
  return Element("p", "", r.cause) + "\n" +
         TextTable(
             {"what is seen", "likely cause", "how to tell", "what to do"},
             rows);
}

std::string CommandsMarkup(const BisectResult& r) {
  std::string markup;
  for (const BisectCommand& command : r.commands) {
    absl::StrAppend(&markup, Element("p", "note", command.what), "\n",
                    Element("pre", "", command.line), "\n");
  }
  return markup;
}

}  // namespace

std::string BisectPage(const BisectResult& r, const std::string& fix) {
  const std::string title = absl::StrCat("bisect: ", BisectHeadline(r));
  return absl::StrCat(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\" />"
      "<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\" />",
      Element("title", "", title), "<style>", kPageStyle,
      "</style></head>\n<body><main>\n",
      Element("h1", "",
              absl::StrCat("lockstep bisect ", r.a.path, " ", r.b.path)),
      "<section id=\"verdict\">", VerdictMarkup(r), "</section>\n",
      fix.empty() ? "" : Section("fix", "The fix", Element("pre", "", fix)),
      Section("timeline", "Timeline", TimelineMarkup(r)),
      Section("sure", "How sure",
              List(r.certainty, "Nothing was done that could show it.")),
      Section("cause", "What usually does that", CauseMarkup(r)),
      Section("tensor", "The tensor", TensorMarkup(r)),
      Section("scopes", "Scopes and ranks", ScopesMarkup(r)),
      Section("ranks", "Where each rank parts", RanksMarkup(r)),
      Section("differences", "What the manifests say", DifferencesMarkup(r)),
      Section("notes", "Notes", List(r.notes, "None.")),
      Section("commands", "Do it again", CommandsMarkup(r)),
      "</main></body></html>\n");
}

}  // namespace lockstep
