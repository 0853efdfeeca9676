// Text that is safe inside a page, and the few elements that the page repeats.
//
// What it is: escaping, and elements made of escaped text. What it is not: a
// template language. Why so: names of runs, scopes and hosts come from
// elsewhere, and none may become markup; so text enters the page through here
// and nowhere else. The page is well-formed XML too: every element is closed.
#ifndef LOCKSTEP_TOOLS_BISECT_PAGE_MARKUP_H_
#define LOCKSTEP_TOOLS_BISECT_PAGE_MARKUP_H_

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

// For text and for quoted attributes. Bytes that no XML may have (control
// characters, broken UTF-8) become U+FFFD.
std::string Escaped(std::string_view text);

// <NAME class="CLASS">text</NAME>, text escaped; class may be empty.
std::string Element(std::string_view name, std::string_view css_class,
                    std::string_view text);

// <section id="ID"><h2>title</h2>body</section>; body is markup.
std::string Section(std::string_view id, std::string_view title,
                    std::string_view body);

// A table; cells are text.
std::string TextTable(const std::vector<std::string>& head,
                      const std::vector<std::vector<std::string>>& rows);

// "12.34%": where `value` lies between `low` and `high`.
std::string Percent(double value, double low, double high);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_PAGE_MARKUP_H_
