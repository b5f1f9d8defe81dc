/* gnuplot.c: pictures by gnuplot. */
#include "config.h"
#include "gnuplot.h"
#include "base/output.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

FILE *gnuplot_script(hu_error *err)
{
    FILE *script = tmpfile();
    if (!script) hu_fail_errno(err, errno, "a temporary file", "open");
    return script;
}

void gnuplot_quote(FILE *f, const char *text)
{
    fputc('"', f);
    for (; *text; text++) {
        if ((unsigned char)*text < ' ') continue;
        if (strchr("\"\\`", *text)) fputc('\\', f);
        fputc(*text, f);
    }
    fputc('"', f);
}

/* Starts gnuplot with the script's file as its standard input and a pipe as its standard output. */
static pid_t start_gnuplot(int script, int *ret_read)
{
    int pipes[2];
    if (pipe2(pipes, O_CLOEXEC)) return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(script, STDIN_FILENO);
        dup2(pipes[1], STDOUT_FILENO);
        execlp("gnuplot", "gnuplot", "-", (char *)NULL);
        _exit(127);
    }
    close(pipes[1]);
    if (child < 0) close(pipes[0]);
    *ret_read = pipes[0];
    return child;
}

static hu_status copy_picture(int fd, hu_output *out, hu_error *err)
{
    char buffer[65536];
    for (;;) {
        ssize_t n = read(fd, buffer, sizeof buffer);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0) return hu_fail_errno(err, errno, "gnuplot", "read");
        if (n == 0) return HU_OK;
        if (hu_output_write(out, buffer, (size_t)n, err)) return err->status;
    }
}

hu_status gnuplot_draw(FILE *script, const char *path, hu_error *err)
{
    int fd, state = 0;
    hu_output *out = NULL;
    if (fflush(script) || fseek(script, 0, SEEK_SET)) {
        hu_fail_errno(err, errno, "a temporary file", "write");
        goto cleanup;
    }
    if (hu_output_open(path, &out, err)) goto cleanup;
    pid_t child = start_gnuplot(fileno(script), &fd);
    if (child < 0) {
        hu_fail_errno(err, errno, "gnuplot", "start");
        goto cleanup;
    }
    copy_picture(fd, out, err);
    close(fd);
    while (waitpid(child, &state, 0) < 0 && errno == EINTR) continue;
    if (WIFEXITED(state) && WEXITSTATUS(state) == 127) hu_fail(err, HU_SYSTEM, "--plot needs gnuplot, which is not installed (Debian: gnuplot-nox)");
    else if (state != 0) hu_fail(err, HU_SYSTEM, "gnuplot failed (state %d)", state);
    if (err->status == HU_OK) hu_output_commit(&out, err);
cleanup:
    hu_output_abort(&out);
    fclose(script);
    return err->status;
}
