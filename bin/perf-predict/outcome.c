/* outcome.c: the words in which a run's outcome is told. */
#include "config.h"
#include "outcome.h"
#include "base/number.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_word(const char *text, int64_t size, const char *word)
{
    return (size_t)size == strlen(word) && strncasecmp(text, word, (size_t)size) == 0;
}

bool outcome_parse(const char *text, int64_t size, state_run *run)
{
    static const char late[] = "timeout>";
    const int64_t late_size = sizeof late - 1;
    while (size > 0 && strchr(" \t\r", text[size - 1])) size--;
    for (; size > 0 && strchr(" \t", *text); size--) text++;
    const char *end = text + size;
    double value = 0.0;
    run->value = 0.0;
    run->outcome = RUN_FAIL;
    if (is_word(text, size, "fail") || is_word(text, size, "failed") || is_word(text, size, "error") || is_word(text, size, "timeout")) return true;
    if (size > late_size && strncasecmp(text, late, (size_t)late_size) == 0) {
        run->outcome = RUN_TIMEOUT;
        if (hu_number_parse(text + late_size, end, &run->value) != end) return false;
        return run->value >= 0 && isfinite(run->value);
    }
    if (hu_number_parse(text, end, &value) != end || size == 0) return false;
    if (!isfinite(value)) return true;
    run->outcome = RUN_TIME;
    run->value = value;
    return true;
}

hu_status outcome_put(const state_run *run, hu_csv_writer *w, hu_error *err)
{
    char text[HU_NUMBER_SIZE + 16] = "timeout>";
    if (run->outcome == RUN_TIME) return hu_csv_put_number(w, run->value, err);
    if (run->outcome == RUN_FAIL) return hu_csv_put_text(w, "fail", err);
    text[8 + hu_number_print(run->value, text + 8)] = '\0';
    return hu_csv_put_text(w, text, err);
}

double outcome_cost(const state_run *run, bool maximize)
{
    if (run->outcome == RUN_TIMEOUT) return run->value;
    return run->outcome == RUN_TIME && !maximize && run->value > 0 ? run->value : 0.0;
}
