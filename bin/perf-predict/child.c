/* child.c: other programs as children. */
#include "config.h"
#include "child.h"
#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NOT_FOUND = 127, GRACE = 5 };

static int wait_for(pid_t child)
{
    int state = 0;
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    return state;
}

static hu_status read_all(int fd, const char *name, int64_t most, char **ret_text, int64_t *ret_size, hu_error *err)
{
    int64_t room = 1 << 16, size = 0;
    char *text = malloc((size_t)room + 1);
    while (text) {
        ssize_t n = read(fd, text + size, (size_t)(room - size));
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) hu_fail_errno(err, errno, name, "read");
        if (n <= 0) break;
        size += n;
        if (size < room) continue;
        if (room >= most) {
            hu_fail(err, HU_SYSTEM, "%s says more than %lld bytes", name, (long long)most);
            break;
        }
        room *= 2;
        char *more = realloc(text, (size_t)room + 1);
        if (!more) free(text);
        text = more;
    }
    if (!text) return hu_fail(err, HU_SYSTEM, "out of memory");
    text[size] = '\0';
    *ret_text = text;
    *ret_size = size;
    return err->status;
}

hu_status child_output(const char *const *argv, int64_t most, const char *hint, char **ret_text, int64_t *ret_size, hu_error *err)
{
    int pipes[2];
    *ret_text = NULL;
    if (pipe2(pipes, O_CLOEXEC)) return hu_fail_errno(err, errno, argv[0], "start");
    pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDOUT_FILENO);
        execvp(argv[0], (char *const *)(uintptr_t)argv);
        _exit(NOT_FOUND);
    }
    close(pipes[1]);
    if (child < 0) hu_fail_errno(err, errno, argv[0], "start");
    else read_all(pipes[0], argv[0], most, ret_text, ret_size, err);
    close(pipes[0]);
    int state = child < 0 ? 0 : wait_for(child);
    if (WIFEXITED(state) && WEXITSTATUS(state) == NOT_FOUND) hu_fail(err, HU_SYSTEM, "%s is not there (%s)", argv[0], hint);
    else if (state != 0) hu_fail(err, HU_SYSTEM, "%s failed (exit status %d)", argv[0], WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state));
    if (err->status) {
        free(*ret_text);
        *ret_text = NULL;
    }
    return err->status;
}

/* The child's side: tells on `report` why the program could not be started. */
static void become(char *const *argv, const char *const *variable, bool is_aside, int report)
{
    if (is_aside) dup2(STDERR_FILENO, STDOUT_FILENO);
    for (; variable && variable[0]; variable += 2) {
        if (variable[1]) setenv(variable[0], variable[1], 1);
        else unsetenv(variable[0]);
    }
    execvp(argv[0], argv);
    int why = errno;
    (void)!write(report, &why, sizeof why);
    _exit(NOT_FOUND);
}

/* HU_USAGE where the program cannot be started. */
static hu_status start(char *const *argv, const char *const *variable, bool is_aside, pid_t *ret_child, hu_error *err)
{
    int report[2], why = 0;
    *ret_child = -1;
    if (pipe2(report, O_CLOEXEC)) return hu_fail_errno(err, errno, argv[0], "start");
    pid_t child = fork();
    if (child == 0) {
        signal(SIGINT, SIG_DFL);
        signal(SIGQUIT, SIG_DFL);
        become(argv, variable, is_aside, report[1]);
    }
    close(report[1]);
    if (child < 0) why = errno;
    else if (read(report[0], &why, sizeof why) != sizeof why) why = 0;
    close(report[0]);
    if (why && child > 0) wait_for(child);
    if (why) return hu_fail(err, child < 0 ? HU_SYSTEM : HU_USAGE, "%s: cannot be started: %s", argv[0], strerror(why));
    *ret_child = child;
    return HU_OK;
}

/* Waits until the child ends or the limit is over; then tells it to end, and at last makes it. */
static int wait_until(pid_t child, double start_time, double limit, struct rusage *usage, bool *ret_late)
{
    const struct timespec nap = {0, 2000000};
    int state = 0;
    for (;;) {
        pid_t done = wait4(child, &state, WNOHANG, usage);
        if (done == child || (done < 0 && errno != EINTR)) return state;
        double now = hu_clock_wall() - start_time;
        if (now > limit && !*ret_late) kill(child, SIGTERM);
        if (now > limit) *ret_late = true;
        if (now > limit + GRACE) kill(child, SIGKILL);
        nanosleep(&nap, NULL);
    }
}

static double seconds_of(struct timeval t)
{
    return (double)t.tv_sec + 1e-6 * (double)t.tv_usec;
}

hu_status child_run(char *const *argv, const char *const *variable, double limit, child_end *ret_end, hu_error *err)
{
    pid_t child;
    struct rusage usage = {0};
    void (*interrupt)(int) = signal(SIGINT, SIG_IGN), (*quit)(int) = signal(SIGQUIT, SIG_IGN);
    double begin = hu_clock_wall();
    *ret_end = (child_end){0};
    if (start(argv, variable, true, &child, err) == HU_OK) {
        if (limit > 0) ret_end->state = wait_until(child, begin, limit, &usage, &ret_end->is_late);
        else while (wait4(child, &ret_end->state, 0, &usage) < 0 && errno == EINTR) continue;
        ret_end->seconds = hu_clock_wall() - begin;
        ret_end->cpu = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    }
    signal(SIGINT, interrupt);
    signal(SIGQUIT, quit);
    return err->status;
}

hu_status child_call(char *const *argv, int *ret_state, hu_error *err)
{
    pid_t child;
    if (start(argv, NULL, false, &child, err) == HU_OK) *ret_state = wait_for(child);
    return err->status;
}
