/* level.h: one source of hot loops, built once per instruction set.
 *
 * A kernel's source file wraps the name of every function that others call in HU_NAME(), and is listed in COMMON_KERNELS (or a
 * program's own list of that kind), whose library is built three times with KERNEL_base, KERNEL_v3 and KERNEL_v4. Everything
 * else in it is static. A header declares all builds at once, and the caller picks at run time:
 *
 *     HU_LEVELS(double, add_up, (const double *x, int64_t n));      x_kernel.h
 *     double HU_NAME(add_up)(const double *x, int64_t n) { ... }    x_kernel.c
 *     sum = HU_PICK(add_up)(x, n);                                  x.c
 *
 * HU_PICK() costs a load and a comparison or two: outside of loops it is nothing. In a kernel's source HU_LANES is the number of
 * doubles in a vector register of the level.
 */
#ifndef HU_DEVICE_LEVEL_H
#define HU_DEVICE_LEVEL_H

#include "config.h"
#include "device/cpu.h"

#define HU_JOIN2(name, level) name##_##level
#define HU_JOIN(name, level) HU_JOIN2(name, level)

/* The name of a function in the build at hand. */
#define HU_NAME(name) HU_JOIN(name, HU_LEVEL)

#ifdef HU_X86
#define HU_LEVELS(type, name, arguments) type name##_base arguments; type name##_v3 arguments; type name##_v4 arguments
#define HU_PICK(name) (hu_cpu() == HU_CPU_V4 ? name##_v4 : hu_cpu() == HU_CPU_V3 ? name##_v3 : name##_base)
#else
#define HU_LEVELS(type, name, arguments) type name##_base arguments
#define HU_PICK(name) name##_base
#endif

#if defined(__AVX512F__)
enum { HU_LANES = 8 };
#elif defined(__AVX__)
enum { HU_LANES = 4 };
#else
enum { HU_LANES = 2 };
#endif

#endif
