// What host code names and nothing declares.
#ifndef ROCKHOUND_ANY
#define ROCKHOUND_ANY
// A value of a type that is not declared here: may be called, converted and compared. A kernel cannot use it.
struct __rh_any {
  __rh_any() {}
  __rh_any(const __rh_any &) {}
  template <class T> __rh_any(const T &) {}
  ~__rh_any() {}
  __rh_any &operator=(const __rh_any &) { return *this; }
  template <class T> operator T() const;
  template <class... T> __rh_any operator()(T &&...) const;
  template <class T> __rh_any operator[](T &&) const;
  __rh_any operator*() const;
  __rh_any *operator->() const;
#ifdef __RH_ANY_BYTES
  // The real layout is not known: code that depends on it differs from the code with this one.
  alignas(16) char bytes[__RH_ANY_BYTES];
#endif
};
// Operators are for such a value and anything, and take part in nothing else.
template <class A, class B, class R> struct __rh_either {};
template <class B, class R> struct __rh_either<__rh_any, B, R> { typedef R type; };
template <class A, class R> struct __rh_either<A, __rh_any, R> { typedef R type; };
template <class R> struct __rh_either<__rh_any, __rh_any, R> { typedef R type; };
#define __rh_operator_of_any(op, result) \
  template <class A, class B> typename __rh_either<A, B, result>::type operator op(const A &, const B &);
__rh_operator_of_any(==, bool) __rh_operator_of_any(!=, bool) __rh_operator_of_any(<, bool) __rh_operator_of_any(>, bool)
__rh_operator_of_any(<=, bool) __rh_operator_of_any(>=, bool)
__rh_operator_of_any(+, __rh_any) __rh_operator_of_any(-, __rh_any) __rh_operator_of_any(*, __rh_any)
__rh_operator_of_any(/, __rh_any) __rh_operator_of_any(%, __rh_any) __rh_operator_of_any(|, __rh_any)
__rh_operator_of_any(&, __rh_any)
#undef __rh_operator_of_any
template <class S, class A> typename __rh_either<A, int, S &>::type operator<<(S &stream, const A &);

// In place of the body of a host function that cannot be read; what runs on the GPU cannot call it.
void __rh_left_out();
#endif
