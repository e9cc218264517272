/*
 * Parts of one function, whose structs are in registers then. With checks of each access such a
 * function takes minutes to compile, so that there they stay functions.
 */
#ifndef BASE_INLINE_H
#define BASE_INLINE_H

#ifdef __has_feature
#define INLINE_CHECKED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define INLINE_CHECKED 1
#else
#define INLINE_CHECKED 0
#endif

#if INLINE_CHECKED
#define INLINE_FORCED inline
#else
#define INLINE_FORCED inline __attribute__((always_inline))
#endif

#endif
