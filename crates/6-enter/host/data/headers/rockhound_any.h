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
};
#define __rh_compare(op)                                              \
  inline bool operator op(__rh_any, __rh_any);                        \
  template <class T> bool operator op(__rh_any, const T &);           \
  template <class T> bool operator op(const T &, __rh_any);
__rh_compare(==) __rh_compare(!=) __rh_compare(<) __rh_compare(>) __rh_compare(<=) __rh_compare(>=)
#undef __rh_compare
#define __rh_compute(op)                                              \
  inline __rh_any operator op(__rh_any, __rh_any);                    \
  template <class T> __rh_any operator op(__rh_any, const T &);       \
  template <class T> __rh_any operator op(const T &, __rh_any);
__rh_compute(+) __rh_compute(-) __rh_compute(*) __rh_compute(/) __rh_compute(|) __rh_compute(&)
#undef __rh_compute

// In place of the body of a host function that cannot be read; what runs on the GPU cannot call it.
void __rh_left_out();
#endif
