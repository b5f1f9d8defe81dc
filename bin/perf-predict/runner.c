/* runner.c: commands that measure configurations.
 *
 * Sections: what a command is told, signals, starting, listening, results.
 */
#include "config.h"
#include "runner.h"
#include "base/clock.h"
#include "base/memory.h"
#include "outcome.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { TAIL = 65536, CANNOT_RUN = 126, NOT_FOUND = 127 };
static const double GRACE = 2.0; /* seconds between asking a run to end and ending it */

typedef struct {
    pid_t child;       /* 0: none */
    bool busy, told_to_end, killed, ended;
    int status;        /* as waitpid() gives it, where it ended */
    int to, from;      /* its standard input (coprocess) and output; -1: closed */
    char *line;        /* what it still has to be told */
    size_t line_size, line_done;
    char text[TAIL];   /* the end of what it said */
    size_t size;
    int64_t config, tag;
    double start;
} slot;

struct runner {
    runner_options o;
    const config_set *set;
    char *script;       /* what the shell runs */
    char **variable;    /* [columns] names in the environment */
    slot *slot;         /* [jobs] */
    int wake;           /* the reading end of the pipe that signals write to */
    struct sigaction old[4];
    bool caught;
};

/* ---- what a command is told ---------------------------------------------------------------------------------------------------------- */

static bool is_guarded(const char *name)
{
    static const char *const names[] = {"PATH", "IFS", "HOME", "SHELL", "ENV", "BASH_ENV"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (strcmp(name, names[k]) == 0) return true;
    return strncmp(name, "LD_", 3) == 0;
}

/* A column's name as one of a variable: other signs than letters, digits and '_' become '_'. */
static hu_status name_variables(runner *r, hu_error *err)
{
    if (hu_alloc_zero(r->set->columns, sizeof *r->variable, "names", (void **)&r->variable, err)) return err->status;
    for (int32_t c = 0; c < r->set->columns; c++) {
        const char *column = r->set->column[c].name;
        char *name = malloc(strlen(column) + 2), *p = name;
        if (!name) return hu_fail(err, HU_SYSTEM, "out of memory");
        r->variable[c] = name;
        if (*column >= '0' && *column <= '9') *p++ = '_';
        for (; *column; column++) *p++ = (*column >= '0' && *column <= '9') || ((*column | 32) >= 'a' && (*column | 32) <= 'z') ? *column : '_';
        *p = '\0';
        if (is_guarded(name)) return hu_fail(err, HU_USAGE, "the column %s cannot be handed over in the environment, where it means something else; use --pass=args, json or csv", r->set->column[c].name);
        for (int32_t k = 0; k < c; k++)
            if (strcmp(r->variable[k], name) == 0)
                return hu_fail(err, HU_USAGE, "the columns %s and %s are the same variable %s of the environment; use --pass=args, json or csv", r->set->column[k].name, r->set->column[c].name, name);
    }
    return HU_OK;
}

static bool same_variable(const char *entry, const char *name)
{
    size_t size = strlen(name);
    return strncmp(entry, name, size) == 0 && entry[size] == '=';
}

/* Our environment with the configuration in it; free each from *ret_own on, then the list. */
static char **environment_of(const runner *r, int64_t config, int *ret_own)
{
    int count = 0, n = 0;
    while (environ[count]) count++;
    char **list = calloc((size_t)(count + r->set->columns) + 1, sizeof *list);
    if (!list) return NULL;
    for (int i = 0; i < count; i++) {
        bool taken = false;
        for (int32_t c = 0; c < r->set->columns && !taken; c++) taken = same_variable(environ[i], r->variable[c]);
        if (!taken) list[n++] = environ[i];
    }
    *ret_own = n;
    for (int32_t c = 0; c < r->set->columns; c++) {
        const char *text = configs_text(r->set, config, c);
        size_t size = strlen(r->variable[c]) + strlen(text) + 2;
        if ((list[n] = malloc(size))) snprintf(list[n++], size, "%s=%s", r->variable[c], text);
    }
    return list;
}

static hu_status line_csv(const runner *r, int64_t config, hu_output *out, hu_error *err)
{
    hu_csv_writer w = hu_csv_writer_to(out, ',');
    return configs_put(r->set, config, &w, err) || hu_csv_end_row(&w, err) ? err->status : HU_OK;
}

static hu_status line_json(const runner *r, int64_t config, hu_output *out, hu_error *err)
{
    json_t *object = json_object(), *values = configs_to_json(r->set, config);
    for (int32_t c = 0; c < r->set->columns; c++) {
        json_t *v = json_array_get(values, (size_t)c);
        double number = json_number_value(v);
        if (json_is_real(v) && number == floor(number) && fabs(number) < 9e15) json_object_set_new(object, r->set->column[c].name, json_integer((json_int_t)number));
        else json_object_set(object, r->set->column[c].name, v);
    }
    char *text = json_dumps(object, JSON_COMPACT | JSON_PRESERVE_ORDER);
    if (!text) hu_fail(err, HU_SYSTEM, "out of memory");
    else hu_output_printf(out, err, "%s\n", text);
    free(text);
    json_decref(object);
    json_decref(values);
    return err->status;
}

/* The line that goes to standard input; nothing under PASS_ENV and PASS_ARGS. */
static hu_status make_line(const runner *r, int64_t config, char **ret_line, size_t *ret_size, hu_error *err)
{
    hu_output *out = NULL;
    const char *bytes;
    *ret_line = NULL;
    *ret_size = 0;
    if (r->o.pass == PASS_ENV || r->o.pass == PASS_ARGS) return HU_OK;
    if (hu_output_memory("a line", &out, err) || (r->o.pass == PASS_JSON ? line_json(r, config, out, err) : line_csv(r, config, out, err))) goto cleanup;
    hu_output_memory_bytes(out, &bytes, ret_size);
    if (!(*ret_line = malloc(*ret_size))) hu_fail(err, HU_SYSTEM, "out of memory");
    else memcpy(*ret_line, bytes, *ret_size);
cleanup:
    hu_output_abort(&out);
    return err->status;
}

/* ---- signals --------------------------------------------------------------------------------------------------------------------------- */

static const int signals[] = {SIGCHLD, SIGINT, SIGTERM, SIGHUP};
static volatile sig_atomic_t interrupted;
static int wake_end = -1; /* the writing end; one runner at a time */

static void wake(int number)
{
    int saved = errno;
    if (number != SIGCHLD) interrupted = 1;
    (void)!write(wake_end, "", 1);
    errno = saved;
}

static hu_status catch_signals(runner *r, hu_error *err)
{
    int pipes[2];
    struct sigaction action = {.sa_handler = wake, .sa_flags = SA_RESTART | SA_NOCLDSTOP};
    if (pipe2(pipes, O_CLOEXEC | O_NONBLOCK)) return hu_fail_errno(err, errno, r->o.command, "start");
    r->wake = pipes[0];
    wake_end = pipes[1];
    interrupted = 0;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 4; i++) sigaction(signals[i], &action, &r->old[i]);
    r->caught = true;
    return HU_OK;
}

hu_status runner_open(const runner_options *options, const config_set *set, runner **ret_runner, hu_error *err)
{
    runner *r = NULL;
    if (hu_alloc_zero(1, sizeof *r, "a runner", (void **)&r, err)) return err->status;
    r->o = *options;
    r->set = set;
    r->wake = -1;
    if (hu_alloc_zero(options->jobs, sizeof *r->slot, "a runner", (void **)&r->slot, err)) goto failed;
    for (int i = 0; i < options->jobs; i++) r->slot[i].to = r->slot[i].from = -1;
    if (asprintf(&r->script, "%s%s", options->command, options->pass == PASS_ARGS ? " \"$@\"" : "") < 0) {
        r->script = NULL;
        hu_fail(err, HU_SYSTEM, "out of memory");
        goto failed;
    }
    if ((options->pass == PASS_ENV && name_variables(r, err)) || catch_signals(r, err)) goto failed;
    *ret_runner = r;
    return HU_OK;
failed:
    runner_close(r);
    return err->status;
}

/* ---- starting ---------------------------------------------------------------------------------------------------------------------------- */

/* A file in memory, so that a command need not read what it is told. */
static int input_of(const char *line, size_t size)
{
    if (!line) return open("/dev/null", O_RDONLY | O_CLOEXEC);
    int fd = memfd_create("configuration", MFD_CLOEXEC);
    if (fd >= 0 && (write(fd, line, size) != (ssize_t)size || lseek(fd, 0, SEEK_SET))) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* The child's side: nothing here allocates, for other threads may have been about to when we forked. */
static void become(const runner *r, char *const *argv, char *const *environment, int in, int out, pid_t parent)
{
    struct sigaction plain = {.sa_handler = SIG_DFL};
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) _exit(NOT_FOUND);
    for (int i = 0; i < 4; i++) sigaction(signals[i], r->old[i].sa_handler == SIG_IGN ? &r->old[i] : &plain, NULL);
    signal(SIGPIPE, SIG_DFL);
    dup2(in, STDIN_FILENO);
    dup2(out, STDOUT_FILENO);
    execve("/bin/sh", argv, environment);
    _exit(NOT_FOUND);
}

static hu_status launch(runner *r, slot *s, int64_t config, const char *line, size_t size, hu_error *err)
{
    int out[2] = {-1, -1}, in[2] = {-1, -1}, own = 0;
    char **environment = r->o.pass == PASS_ENV ? environment_of(r, config, &own) : environ, **argv = calloc((size_t)r->set->columns + 5, sizeof *argv);
    static char shell[] = "sh", flag[] = "-c";
    if (!environment || !argv) {
        hu_fail(err, HU_SYSTEM, "out of memory");
        goto cleanup;
    }
    argv[0] = argv[3] = shell;
    argv[1] = flag;
    argv[2] = r->script;
    for (int32_t c = 0; r->o.pass == PASS_ARGS && c < r->set->columns; c++) argv[4 + c] = (char *)(uintptr_t)configs_text(r->set, config, c);
    if (r->o.coprocess ? pipe2(in, O_CLOEXEC) : (in[0] = input_of(line, size)) < 0) hu_fail_errno(err, errno, r->o.command, "start");
    if (err->status || pipe2(out, O_CLOEXEC)) {
        hu_fail_errno(err, errno, r->o.command, "start");
        goto cleanup;
    }
    pid_t parent = getpid();
    s->child = fork();
    if (s->child == 0) become(r, argv, environment, in[0], out[1], parent);
    if (s->child < 0) {
        s->child = 0;
        hu_fail_errno(err, errno, r->o.command, "start");
        goto cleanup;
    }
    setpgid(s->child, s->child);
    fcntl(out[0], F_SETFL, O_NONBLOCK);
    if (in[1] >= 0) fcntl(in[1], F_SETFL, O_NONBLOCK);
    s->from = out[0];
    s->to = in[1];
    out[0] = in[1] = -1;
    s->size = 0;
    s->told_to_end = s->killed = s->ended = false;
cleanup:
    for (int i = 0; i < 2; i++) {
        if (in[i] >= 0) close(in[i]);
        if (out[i] >= 0) close(out[i]);
    }
    for (; r->o.pass == PASS_ENV && environment && environment[own]; own++) free(environment[own]);
    if (r->o.pass == PASS_ENV) free(environment);
    free(argv);
    return err->status;
}

/* Keeps the end of what a run says. */
static void listen_to(slot *s)
{
    char bytes[4096];
    for (;;) {
        ssize_t n = read(s->from, bytes, sizeof bytes);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return; /* nothing more now */
        if (n == 0) {
            close(s->from);
            s->from = -1;
            return;
        }
        size_t keep = s->size + (size_t)n > TAIL ? TAIL - (size_t)n : s->size;
        memmove(s->text, s->text + s->size - keep, keep);
        memcpy(s->text + keep, bytes, (size_t)n);
        s->size = keep + (size_t)n;
    }
}

int runner_busy(const runner *r)
{
    int busy = 0;
    for (int i = 0; i < r->o.jobs; i++) busy += r->slot[i].busy;
    return busy;
}

int runner_free_slots(const runner *r)
{
    return r->o.jobs - runner_busy(r);
}

hu_status runner_start(runner *r, int64_t config, int64_t tag, hu_error *err)
{
    slot *s = r->slot;
    while (s->busy) s++;
    char *line;
    size_t size;
    if (make_line(r, config, &line, &size, err)) return err->status;
    s->start = hu_clock_wall();
    if (s->child && s->from >= 0) listen_to(s);
    if (s->child && s->size > 0) hu_fail(err, HU_INPUT, "%s: said more than one line to one configuration", r->o.command);
    if (err->status || (!s->child && launch(r, s, config, line, size, err))) {
        free(line);
        return err->status;
    }
    s->busy = true;
    s->config = config;
    s->tag = tag;
    if (!r->o.coprocess) {
        free(line);
        return HU_OK;
    }
    s->line = line;
    s->line_size = size;
    s->line_done = 0;
    s->size = 0;
    return HU_OK;
}

/* ---- listening ---------------------------------------------------------------------------------------------------------------------------- */

static void speak_to(slot *s)
{
    while (s->line_done < s->line_size) {
        ssize_t n = write(s->to, s->line + s->line_done, s->line_size - s->line_done);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno != EAGAIN) s->line_done = s->line_size; /* it has ended; that shows elsewhere */
        if (n < 0) return;
        s->line_done += (size_t)n;
    }
}

/* Children that have ended. */
static void reap(runner *r)
{
    for (int i = 0; i < r->o.jobs; i++) {
        slot *s = &r->slot[i];
        if (s->child && !s->ended && waitpid(s->child, &s->status, WNOHANG) == s->child) s->ended = true;
    }
}

/* Ends what runs too long; the seconds until that has to be looked at again. */
static double enforce_limits(runner *r)
{
    double next = INFINITY, now = hu_clock_wall();
    for (int i = 0; i < r->o.jobs; i++) {
        slot *s = &r->slot[i];
        if (!s->busy || s->ended) continue;
        double limit = s->start + r->o.timeout + (s->told_to_end ? GRACE : 0.0);
        if (now >= limit && !s->killed) {
            kill(-s->child, s->told_to_end ? SIGKILL : SIGTERM);
            s->killed = s->told_to_end;
            s->told_to_end = true;
            limit = now + GRACE;
        }
        if (limit - now < next && !s->killed) next = limit - now;
    }
    return next;
}

static hu_status wait_for_news(runner *r, double seconds, hu_error *err)
{
    struct pollfd *fd = calloc((size_t)(2 * r->o.jobs) + 1, sizeof *fd);
    char bytes[64];
    if (!fd) return hu_fail(err, HU_SYSTEM, "out of memory");
    fd[0] = (struct pollfd){r->wake, POLLIN, 0};
    for (int i = 0; i < r->o.jobs; i++) {
        const slot *s = &r->slot[i];
        fd[1 + 2 * i] = (struct pollfd){s->from, POLLIN, 0};
        fd[2 + 2 * i] = (struct pollfd){s->busy && s->line_done < s->line_size ? s->to : -1, POLLOUT, 0};
    }
    int limit = seconds < 2e6 ? (int)ceil(1e3 * seconds) : -1;
    if (poll(fd, (nfds_t)(2 * r->o.jobs) + 1, limit) < 0 && errno != EINTR) hu_fail_errno(err, errno, r->o.command, "wait");
    while (read(r->wake, bytes, sizeof bytes) > 0) continue;
    for (int i = 0; i < r->o.jobs && !err->status; i++) {
        if (fd[1 + 2 * i].revents) listen_to(&r->slot[i]);
        if (fd[2 + 2 * i].revents) speak_to(&r->slot[i]);
    }
    free(fd);
    return err->status;
}

/* ---- results -------------------------------------------------------------------------------------------------------------------------------- */

static void forget_child(slot *s)
{
    if (s->child && !s->ended) {
        kill(-s->child, SIGKILL);
        while (waitpid(s->child, &s->status, 0) < 0 && errno == EINTR) continue;
    }
    if (s->to >= 0) close(s->to);
    if (s->from >= 0) close(s->from);
    s->child = 0;
    s->to = s->from = -1;
    s->ended = false;
}

/* The last line that says something; its size, or 0. */
static size_t last_line(const slot *s, const char **ret_line)
{
    size_t end = s->size;
    while (end > 0 && strchr(" \t\r\n", s->text[end - 1])) end--;
    size_t start = end;
    while (start > 0 && s->text[start - 1] != '\n') start--;
    *ret_line = s->text + start;
    return end - start;
}

static hu_status parse_line(const runner *r, const char *line, size_t size, state_run *run, hu_error *err)
{
    if (size == 0) return hu_fail(err, HU_INPUT, "%s: said nothing; its last line must be the result (--measure=wall takes the time that it runs)", r->o.command);
    if (outcome_parse(line, (int64_t)size, run)) return HU_OK;
    return hu_fail(err, HU_INPUT, "%s: said '%.*s'; its last line must be a number, fail, or timeout>SECONDS (--measure=wall takes the time that it runs)", r->o.command, size < 80 ? (int)size : 80, line);
}

/* The result of a command that has ended. */
static hu_status judge(const runner *r, const slot *s, state_run *run, hu_error *err)
{
    const char *line;
    int code = WIFEXITED(s->status) ? WEXITSTATUS(s->status) : 128 + WTERMSIG(s->status);
    run->outcome = RUN_FAIL;
    run->value = 0.0;
    if (s->told_to_end) {
        run->outcome = RUN_TIMEOUT;
        run->value = r->o.timeout;
    } else if (WIFEXITED(s->status) && (code == CANNOT_RUN || code == NOT_FOUND)) {
        hu_fail(err, HU_SYSTEM, "%s: cannot be run (exit status %d of the shell)", r->o.command, code);
    } else if (code != 0) {
        hu_say(1, "%s: failed (exit status %d)", r->o.command, code);
    } else if (r->o.wall) {
        run->outcome = RUN_TIME;
        run->value = run->cost;
    } else {
        size_t size = last_line(s, &line);
        parse_line(r, line, size, run, err);
    }
    return err->status;
}

/* A coprocess has answered when a whole line is there. */
static hu_status judge_line(const runner *r, slot *s, bool *ret_done, state_run *run, hu_error *err)
{
    const char *end = memchr(s->text, '\n', s->size);
    *ret_done = true;
    if (s->told_to_end) {
        if ((*ret_done = s->ended)) *run = (state_run){s->config, RUN_TIMEOUT, r->o.timeout, run->cost};
        return HU_OK;
    }
    if (end && (size_t)(end - s->text) + 1 < s->size) return hu_fail(err, HU_INPUT, "%s: said more than one line to one configuration", r->o.command);
    if (end) return parse_line(r, s->text, (size_t)(end - s->text), run, err);
    *ret_done = false;
    if (s->ended || s->from < 0) return hu_fail(err, HU_SYSTEM, "%s: the coprocess ended before it answered", r->o.command);
    return HU_OK;
}

static hu_status find_result(runner *r, int64_t *ret_tag, state_run *run, bool *ret_found, hu_error *err)
{
    for (int i = 0; i < r->o.jobs && !*ret_found && !err->status; i++) {
        slot *s = &r->slot[i];
        if (!s->busy) continue;
        run->cost = hu_clock_wall() - s->start;
        if (s->ended && s->from >= 0) listen_to(s);
        if (r->o.coprocess) judge_line(r, s, ret_found, run, err);
        else if ((*ret_found = s->ended)) judge(r, s, run, err);
        if (!*ret_found) continue;
        *ret_tag = s->tag;
        run->config = s->config;
        s->busy = false;
        s->size = 0;
        free(s->line);
        s->line = NULL;
        s->line_size = s->line_done = 0;
        if (s->ended) forget_child(s);
    }
    return err->status;
}

hu_status runner_wait(runner *r, int64_t *ret_tag, state_run *run, hu_error *err)
{
    bool found = false;
    for (;;) {
        if (interrupted) return hu_fail(err, HU_SYSTEM, "interrupted; the same command goes on from here");
        reap(r);
        if (find_result(r, ret_tag, run, &found, err) || found) return err->status;
        if (wait_for_news(r, enforce_limits(r), err)) return err->status;
    }
}

void runner_close(runner *r)
{
    if (!r) return;
    for (int i = 0; r->slot && i < r->o.jobs; i++) {
        if (r->slot[i].to >= 0) close(r->slot[i].to);
        r->slot[i].to = -1;
        if (r->slot[i].child) forget_child(&r->slot[i]);
        free(r->slot[i].line);
    }
    for (int i = 0; i < 4 && r->caught; i++) sigaction(signals[i], &r->old[i], NULL);
    if (r->wake >= 0) {
        close(r->wake);
        close(wake_end);
    }
    for (int32_t c = 0; r->variable && c < r->set->columns; c++) free(r->variable[c]);
    hu_free(r->variable);
    hu_free(r->slot);
    free(r->script);
    hu_free(r);
}
