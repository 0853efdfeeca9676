// LS_CHECK: a bug of ours ends the program, in every build.
//
//   LS_CHECK(rank < world) << "rank " << rank << " of " << world;
//   LS_CHECK_EQ(shape.size(), 2u);
//
// Not for what a user or the world can cause: a bad recipe, a full disk or a
// lost rank is an absl::Status (status.h). Active under NDEBUG as well, because
// a trainer that goes on after a broken invariant writes checkpoints that look
// sound. Abseil's own macro is not in Debian's build, hence this small one.

#ifndef DETERMINISM_CHECK_H_
#define DETERMINISM_CHECK_H_

#include <memory>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>

namespace lockstep {
namespace check_internal {

// Collects the message; its destructor prints it to stderr and aborts.
class Failure {
 public:
  Failure(const char* file, int line, const std::string& condition);
  Failure(const Failure&) = delete;
  Failure& operator=(const Failure&) = delete;
  [[noreturn]] ~Failure();

  std::ostream& stream() { return stream_; }

 private:
  std::ostringstream stream_;
};

// Binds looser than << and so turns the whole message into a void expression.
struct Voidify {
  void operator&(std::ostream&) {}
};

template <typename T>
concept Printable = requires(std::ostream& out, const T& value) {
  out << value;
};

template <typename T>
void Print(std::ostream& out, const T& value) {
  if constexpr (Printable<T>) {
    out << value;
  } else {
    out << "(" << sizeof(T) << " bytes)";
  }
}

// Out of line of the comparison, so that a passing check costs a branch.
template <typename A, typename B>
std::unique_ptr<std::string> Describe(const A& a, const B& b,
                                      const char* text) {
  std::ostringstream out;
  out << text << " (";
  Print(out, a);
  out << " vs. ";
  Print(out, b);
  out << ")";
  return std::make_unique<std::string>(std::move(out).str());
}

// Null when the comparison holds.
template <typename A, typename B, typename Holds>
std::unique_ptr<std::string> Compare(const A& a, const B& b, Holds holds,
                                     const char* text) {
  if (holds(a, b)) [[likely]] {
    return nullptr;
  }
  return Describe(a, b, text);
}

}  // namespace check_internal
}  // namespace lockstep

#define LS_CHECK(condition)                                             \
  (condition) ? (void)0                                                 \
              : ::lockstep::check_internal::Voidify() &                 \
                    ::lockstep::check_internal::Failure(                \
                        __FILE__, __LINE__, "LS_CHECK(" #condition ")") \
                        .stream()

// A while and not an if, so that it nests under an if without braces. The
// failure aborts, so the body runs at most once. The lambda lets `op` compare
// the operands evaluated once.
#define LS_CHECK_OP_(name, op, a, b)                                        \
  while (auto ls_check_text_ = ::lockstep::check_internal::Compare(         \
             (a), (b), [](const auto& x, const auto& y) { return x op y; }, \
             #name "(" #a ", " #b ")"))                                     \
  ::lockstep::check_internal::Failure(__FILE__, __LINE__, *ls_check_text_)  \
      .stream()

#define LS_CHECK_EQ(a, b) LS_CHECK_OP_(LS_CHECK_EQ, ==, a, b)
#define LS_CHECK_NE(a, b) LS_CHECK_OP_(LS_CHECK_NE, !=, a, b)
#define LS_CHECK_LT(a, b) LS_CHECK_OP_(LS_CHECK_LT, <, a, b)
#define LS_CHECK_LE(a, b) LS_CHECK_OP_(LS_CHECK_LE, <=, a, b)
#define LS_CHECK_GT(a, b) LS_CHECK_OP_(LS_CHECK_GT, >, a, b)
#define LS_CHECK_GE(a, b) LS_CHECK_OP_(LS_CHECK_GE, >=, a, b)

#endif  // DETERMINISM_CHECK_H_
