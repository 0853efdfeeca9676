#include <algorithm>

#include "absl/strings/str_cat.h"
#include "tools/bisect/page/markup.h"
#include "tools/bisect/page/sections.h"

namespace lockstep {
namespace {

// A sign besides the colour.
const char* SignOf(ScopeState state) {
  switch (state) {
    case ScopeState::kOrigin:
      return "\xe2\x97\x8f";  // a full circle
    case ScopeState::kBetween:
      return "\xe2\x97\x86";  // a diamond
    case ScopeState::kMissing:
      return "\xe2\x9c\x95";  // a cross
    case ScopeState::kReceiver:
      return "\xe2\x97\x8b";  // a circle
    case ScopeState::kEqual:
      return "=";
    case ScopeState::kAbsent:
      return "";
  }
  return "";
}

const char* CssOf(ScopeState state) {
  return state == ScopeState::kBetween ? "between" : NameOf(state);
}

std::string ColumnName(int rank) {
  return rank < 0 ? "all" : absl::StrCat(rank);
}

std::string Cells(const ScopeTree& tree, const ScopeNode& node) {
  std::string cells = "<span class=\"cells\">";
  for (size_t i = 0; i < tree.ranks.size(); ++i) {
    const ScopeState state = node.states[i];
    absl::StrAppend(
        &cells, "<span class=\"cell ", CssOf(state), "\" title=\"",
        Escaped(absl::StrCat(tree.ranks[i] < 0 ? "" : "rank ",
                             ColumnName(tree.ranks[i]), ": ", NameOf(state))),
        "\">", SignOf(state), "</span>");
  }
  return cells + "</span>";
}

// Folded where nothing but equal ones and those that follow are below.
std::string Rows(const ScopeTree& tree, const ScopeNode& node) {
  const std::string name = Element(
      "span", node.worst() > ScopeState::kReceiver ? "scope strong" : "scope",
      node.name);
  if (node.children.empty()) {
    return absl::StrCat("<div class=\"row\">", name, Cells(tree, node),
                        "</div>\n");
  }
  std::string rows = absl::StrCat(
      "<details", node.worst() > ScopeState::kReceiver ? " open=\"open\"" : "",
      "><summary class=\"row\">", name, Cells(tree, node), "</summary>\n");
  for (const ScopeNode& child : node.children) rows += Rows(tree, child);
  return rows + "</details>\n";
}

std::string Legend() {
  std::string legend = "<p class=\"legend\">";
  for (const ScopeState state :
       {ScopeState::kEqual, ScopeState::kOrigin, ScopeState::kReceiver,
        ScopeState::kBetween, ScopeState::kMissing}) {
    absl::StrAppend(&legend, "<span class=\"item\"><span class=\"cell ",
                    CssOf(state), "\">", SignOf(state), "</span> ",
                    NameOf(state), "</span> ");
  }
  return legend + "</p>\n";
}

std::string Head(const ScopeTree& tree) {
  std::string head =
      "<div class=\"row head\"><span class=\"scope\">rank</span><span "
      "class=\"cells\">";
  for (const int rank : tree.ranks) {
    head += Element("span", "cell", ColumnName(rank));
  }
  return head + "</span></div>\n";
}

}  // namespace

std::string ScopesMarkup(const BisectResult& r) {
  if (r.tree.empty()) {
    return Element("p", "note",
                   r.replays == 0 ? "Nothing was replayed."
                                  : "There is no pair of traces to compare.");
  }
  std::string rows;
  for (const ScopeNode& child : r.tree.root.children) {
    rows += Rows(r.tree, child);
  }
  return absl::StrCat(
      Legend(), "<div class=\"wide\"><div class=\"tree\" style=\"min-width:",
      16 + 2 * r.tree.ranks.size(), "em\">", Head(r.tree), rows,
      "</div></div>\n");
}

std::string RanksMarkup(const BisectResult& r) {
  if (!r.trace || r.trace->partings.empty()) {
    return Element("p", "note", "There is no pair of traces to compare.");
  }
  const std::vector<int>& first = r.trace->ranks;
  std::vector<std::vector<std::string>> rows;
  for (const RankParting& p : r.trace->partings) {
    const bool leads =
        r.trace->across_layouts ||
        std::find(first.begin(), first.end(), p.rank) != first.end();
    const char* reading = p.kind == Parting::kNone ? "no mismatch"
                          : leads                  ? "parts here first"
                                                   : "follows, by a message";
    rows.push_back({p.rank < 0 ? "all" : absl::StrCat(p.rank), reading,
                    NameOf(p.kind),
                    p.kind == Parting::kNone ? "" : ToString(p.identity),
                    p.tensor, absl::StrCat(p.compared),
                    absl::StrCat(p.different), absl::StrCat(p.missing)});
  }
  return TextTable({"rank", "reading", "first mismatch", "operation", "tensor",
                    "compared", "differ", "in one only"},
                   rows);
}

}  // namespace lockstep
