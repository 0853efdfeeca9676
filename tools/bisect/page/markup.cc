#include "tools/bisect/page/markup.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace lockstep {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";

// Bytes of the UTF-8 character at the front that XML may have, or 0 (RFC 3629,
// table of section 4; XML 1.0, production Char).
size_t CharacterBytes(std::string_view text) {
  const auto at = [&](size_t i) {
    return i < text.size() ? static_cast<uint8_t>(text[i]) : uint8_t{0};
  };
  const auto follows = [&](size_t i) { return (at(i) & 0xc0) == 0x80; };
  const uint8_t first = at(0), second = at(1);
  if (first < 0x80) {
    return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  }
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    const bool sound = follows(1) && follows(2) &&
                       !(first == 0xe0 && second < 0xa0) &&
                       !(first == 0xed && second > 0x9f) &&
                       !(first == 0xef && second == 0xbf && at(2) >= 0xbe);
    return sound ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    const bool sound = follows(1) && follows(2) && follows(3) &&
                       !(first == 0xf0 && second < 0x90) &&
                       !(first == 0xf4 && second > 0x8f);
    return sound ? 4 : 0;
  }
  return 0;
}

}  // namespace

std::string Escaped(std::string_view text) {
  std::string escaped;
  while (!text.empty()) {
    const size_t bytes = CharacterBytes(text);
    switch (text.front()) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      case '\'':
        escaped += "&#39;";
        break;
      default:
        escaped += bytes == 0 ? kReplacement : text.substr(0, bytes);
    }
    text.remove_prefix(bytes == 0 ? 1 : bytes);
  }
  return escaped;
}

std::string Element(std::string_view name, std::string_view css_class,
                    std::string_view text) {
  const std::string tag(name);
  return absl::StrCat("<", tag,
                      css_class.empty()
                          ? ""
                          : absl::StrCat(" class=\"", Escaped(css_class), "\""),
                      ">", Escaped(text), "</", tag, ">");
}

std::string Section(std::string_view id, std::string_view title,
                    std::string_view body) {
  return absl::StrCat("<section id=\"", Escaped(id), "\">",
                      Element("h2", "", title), "\n", std::string(body),
                      "</section>\n");
}

std::string TextTable(const std::vector<std::string>& head,
                      const std::vector<std::vector<std::string>>& rows) {
  std::string table = "<div class=\"wide\"><table><thead><tr>";
  for (const std::string& cell : head) table += Element("th", "", cell);
  table += "</tr></thead><tbody>\n";
  for (const std::vector<std::string>& row : rows) {
    table += "<tr>";
    for (const std::string& cell : row) table += Element("td", "", cell);
    table += "</tr>\n";
  }
  return table + "</tbody></table></div>\n";
}

std::string Percent(double value, double low, double high) {
  const double share = high > low ? (value - low) / (high - low) : 0;
  return absl::StrFormat("%.2f%%", 100 * share);
}

}  // namespace lockstep
