/* pairs.c: counts the pairs 0 <= j < i < n whose product is odd: m (m - 1) / 2 of them, m = n / 2 rounded down.
 *
 * Usage: pairs N
 * A sample for `perf-predict probe`: the loops run n, n (n - 1) / 2 times, the branch is taken once a pair.
 */
#include <stdio.h>
#include <stdlib.h>

static long count_pairs(int n)
{
    volatile long odd = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (i % 2 != 0 && j % 2 != 0)
                odd++;
    return odd;
}

int main(int argc, char **argv)
{
    int n = argc > 1 ? atoi(argv[1]) : 0;
    if (n < 1) {
        fprintf(stderr, "usage: pairs N\n");
        return 2;
    }
    printf("%ld\n", count_pairs(n));
    return 0;
}
