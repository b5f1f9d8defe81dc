/* complex_pair.h: complex numbers from their parts, also where the C library's CMPLX is not for this compiler (clang 14 with glibc). */
#ifndef SPTRSV_COMPLEX_PAIR_H
#define SPTRSV_COMPLEX_PAIR_H

#include <complex.h>
#undef I /* the imaginary unit; kernels name their index type so */

#ifndef CMPLX
static inline double complex sptrsv_pair(double re, double im)
{
    union {
        double part[2];
        double complex whole;
    } z = {{re, im}};
    return z.whole;
}
#define CMPLX(re, im) sptrsv_pair(re, im)
#endif

#endif
