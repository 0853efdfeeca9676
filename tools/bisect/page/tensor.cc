#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "tools/bisect/page/markup.h"
#include "tools/bisect/page/png.h"
#include "tools/bisect/page/sections.h"

namespace lockstep {
namespace {

using Colour = std::array<uint8_t, 4>;

// From yellow (one ulp) over red to violet: lightness falls steadily, so the
// order is seen without colours too; what is no number is blue.
Colour ColourOf(int8_t level) {
  if (level < 0) return {0, 0, 0, 0};
  if (level == 64) return {40, 110, 255, 255};
  constexpr std::array<Colour, 4> kStops = {{{250, 196, 50, 255},
                                             {240, 120, 40, 255},
                                             {210, 40, 60, 255},
                                             {120, 20, 110, 255}}};
  const double place = std::min(level / 8.0, 2.999);
  const auto i = static_cast<size_t>(place);
  const double part = place - static_cast<double>(i);
  Colour mixed = {0, 0, 0, 255};
  for (size_t c = 0; c < 3; ++c) {
    mixed[c] = static_cast<uint8_t>(
        std::lround(kStops[i][c] * (1 - part) + kStops[i + 1][c] * part));
  }
  return mixed;
}

std::string Css(const Colour& c) {
  return absl::StrFormat("rgb(%d,%d,%d)", c[0], c[1], c[2]);
}

std::string Picture(const DifferenceMap& map) {
  std::vector<uint8_t> pixels;
  for (const int8_t level : map.cells) {
    const Colour colour = ColourOf(level);
    pixels.insert(pixels.end(), colour.begin(), colour.end());
  }
  // A matrix of one row is still to be seen, and none is a line.
  const double ratio = std::clamp(
      static_cast<double>(map.columns) / static_cast<double>(map.rows), 0.4,
      6.0);
  const std::string left = Percent(static_cast<double>(map.first_column) + 0.5,
                                   0, static_cast<double>(map.columns));
  const std::string top = Percent(static_cast<double>(map.first_row) + 0.5, 0,
                                  static_cast<double>(map.rows));
  return absl::StrFormat(
      "<div class=\"map\" style=\"aspect-ratio:%.3f\"><img src=\"%s\" "
      "alt=\"where the tensor differs\" /><span class=\"ring\" "
      "style=\"left:%s;top:%s\"></span></div>\n<p class=\"note\">%d rows "
      "down, %d columns across (the last dim); %d rows and %d columns have an "
      "element that differs; the ring is around the first.</p>\n",
      ratio, PngUri(map.cell_columns, map.cell_rows, pixels), left, top,
      map.rows, map.columns, map.rows_differ, map.columns_differ);
}

// As a map's cells have it.
int8_t LevelOf(int64_t least) {
  if (least < 0) return 64;
  return static_cast<int8_t>(
      least == 0 ? 0 : std::bit_width(static_cast<uint64_t>(least)) - 1);
}

std::string ClassName(int64_t least) {
  if (least < 0) return "no number";
  if (least == 0) return "0: a sign of zero";
  if (least == 1) return "1 ulp";
  if (least < (int64_t{1} << 20)) {
    return absl::StrCat(least, " to ", 2 * least - 1, " ulp");
  }
  return absl::StrFormat("from 2^%d to 2^%d ulp", LevelOf(least),
                         LevelOf(least) + 1);
}

std::string Histogram(const ElementDifference& e) {
  int64_t most = 1;
  for (const auto& [least, count] : e.ulps) most = std::max(most, count);
  std::string rows = "<div class=\"bars\">\n";
  for (const auto& [least, count] : e.ulps) {
    absl::StrAppend(
        &rows, Element("span", "what", ClassName(least)),
        "<span class=\"bar\"><span class=\"fill\" style=\"width:",
        Percent(static_cast<double>(count), 0, static_cast<double>(most)),
        ";background:", Css(ColourOf(LevelOf(least))), "\"></span></span>",
        Element("span", "many", absl::StrCat(count)), "\n");
  }
  return rows + "</div>\n";
}

}  // namespace

std::string TensorMarkup(const BisectResult& r) {
  if (!r.elements) {
    return Element("p", "note",
                   "No bytes were compared: that needs two replays of the "
                   "operation by this program, on one layout.");
  }
  const ElementDifference& e = *r.elements;
  std::string markup = absl::StrCat(
      "<p>", Element("code", "", e.tensor), ": ",
      Escaped(absl::StrCat(e.differ, " of ", e.count,
                           " elements differ, the first at [",
                           absl::StrJoin(e.first, ", "), "]: ")),
      Element("code", "", absl::StrCat("0x", e.a)), " in A, ",
      Element("code", "", absl::StrCat("0x", e.b)), " in B.</p>\n");
  if (r.map) markup += Picture(*r.map);
  if (!e.ulps.empty()) {
    markup += Element("h3", "", "Distance in units in the last place");
    markup += Histogram(e);
  }
  return markup;
}

}  // namespace lockstep
