// Reads a page as strictly as XML is read, for tests.
//
// What it is: elements with their attributes and the text in them, or the place
// of the first thing that is not well-formed. What it is not: a browser, which
// forgives. Why so: what is well-formed to this cannot hold markup that came in
// as text.
#ifndef LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_READER_H_
#define LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_READER_H_

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep {

struct PageElement {
  std::string name;
  std::map<std::string, std::string> attributes;  // unescaped
  std::string text;  // unescaped, of it and all below
  size_t depth = 0;  // of the root: 0
};

struct ReadPage {
  std::string error;  // empty: well-formed
  std::vector<PageElement> elements;

  // The first with this attribute; null where there is none.
  const PageElement* Find(const std::string& attribute,
                          const std::string& value) const;
};

ReadPage ReadPageText(std::string_view page);

}  // namespace lockstep

#endif  // LOCKSTEP_TOOLS_BISECT_PAGE_PAGE_READER_H_
