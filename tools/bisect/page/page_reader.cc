#include "tools/bisect/page/page_reader.h"

#include "absl/strings/str_cat.h"

namespace lockstep {
namespace {

bool IsName(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         (c >= '0' && c <= '9') || c == '-' || c == ':';
}

class Reader {
 public:
  explicit Reader(std::string_view page) : rest_(page) {}

  ReadPage Read() {
    constexpr std::string_view kType = "<!DOCTYPE html>";
    if (!Take(kType)) Fail("no doctype");
    while (page_.error.empty() && !rest_.empty()) Next();
    if (page_.error.empty() && !open_.empty()) {
      Fail(absl::StrCat("never closed: ", page_.elements[open_.back()].name));
    }
    return std::move(page_);
  }

 private:
  void Fail(const std::string& what) {
    if (!page_.error.empty()) return;
    page_.error =
        absl::StrCat(what, " before: ", std::string(rest_.substr(0, 60)));
  }

  bool Take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  std::string TakeName() {
    size_t n = 0;
    while (n < rest_.size() && IsName(rest_[n])) ++n;
    if (n == 0) Fail("no name");
    std::string name(rest_.substr(0, n));
    rest_.remove_prefix(n);
    return name;
  }

  // One character, an entity being one; "" at an error.
  std::string TakeCharacter() {
    if (rest_.front() == '&') {
      for (const auto& [entity, text] : {std::pair("&amp;", "&"),
                                         {"&lt;", "<"},
                                         {"&gt;", ">"},
                                         {"&quot;", "\""},
                                         {"&#39;", "'"}}) {
        if (Take(entity)) return text;
      }
      Fail("an unknown entity");
      return "";
    }
    const auto byte = static_cast<unsigned char>(rest_.front());
    if (byte < 0x20 && byte != '\n' && byte != '\t')
      Fail("a control character");
    const std::string one(rest_.substr(0, 1));
    rest_.remove_prefix(1);
    return one;
  }

  void Next() {
    if (Take("</")) return Close();
    if (Take("<")) return Open();
    const std::string text = TakeCharacter();
    if (open_.empty() && text != "\n") Fail("text outside of the page");
    for (const size_t element : open_) page_.elements[element].text += text;
  }

  void Close() {
    const std::string name = TakeName();
    if (open_.empty() || page_.elements[open_.back()].name != name) {
      return Fail("closed, and not open: " + name);
    }
    open_.pop_back();
    if (!Take(">")) Fail("no end of a tag");
  }

  void Open() {
    PageElement element = {.name = TakeName(),
                           .attributes = {},
                           .text = {},
                           .depth = open_.size()};
    if (open_.empty() && !page_.elements.empty()) Fail("a second root");
    while (page_.error.empty() && Take(" ")) {
      if (rest_.starts_with("/>")) break;
      TakeAttribute(element);
    }
    page_.elements.push_back(std::move(element));
    if (Take("/>")) return;
    if (!Take(">")) return Fail("no end of a tag");
    open_.push_back(page_.elements.size() - 1);
  }

  void TakeAttribute(PageElement& element) {
    const std::string name = TakeName();
    if (!Take("=\"")) return Fail("an attribute without a value");
    std::string value;
    while (page_.error.empty() && !rest_.starts_with('"')) {
      if (rest_.empty() || rest_.front() == '<') return Fail("a broken value");
      value += TakeCharacter();
    }
    Take("\"");
    if (!element.attributes.emplace(name, value).second) {
      Fail("an attribute twice");
    }
  }

  std::string_view rest_;
  ReadPage page_;
  std::vector<size_t> open_;
};

}  // namespace

const PageElement* ReadPage::Find(const std::string& attribute,
                                  const std::string& value) const {
  for (const PageElement& element : elements) {
    const auto found = element.attributes.find(attribute);
    if (found != element.attributes.end() && found->second == value) {
      return &element;
    }
  }
  return nullptr;
}

ReadPage ReadPageText(std::string_view page) { return Reader(page).Read(); }

}  // namespace lockstep
