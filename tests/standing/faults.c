/* Fails, or kills the process at, the n-th call that changes or opens a file; loaded by LD_PRELOAD.

   arm() begins the count. Calls on paths below an excluded prefix (the installation) and on pipes are
   not counted. Every counted call is a line in the log: kind, number, "!" if it failed, path. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { READ = 1, CREATE = 2, WRITE = 4, SYNC = 8, RENAME = 16, REMOVE = 32, MKDIR = 64 };

static const char *excluded;    /* prefixes, each ended by a newline */
static int first, error, sticky, kinds, log_file;
static atomic_int armed, count;

/* Fail the calls of some kinds with `code` (0: kill), the n-th only or, if `all`, all from there. */
void arm(const char *prefixes, int n, int code, int all, int which, int log_to)
{
    excluded = prefixes, first = n, error = code, sticky = all, kinds = which, log_file = log_to;
    count = 0;
    armed = 1;
}

static int is_counted(const char *path)
{
    if (path[0] != '/')
        return 0;
    for (const char *each = excluded; *each;) {
        size_t length = strcspn(each, "\n");
        if (!strncmp(path, each, length) && (path[length] == '/' || !path[length]))
            return 0;
        each += length + 1;
    }
    return 1;
}

/* Count a call; 1 if it is to fail, with errno set. Half of the data, in sectors, is written before a kill. */
static int fails(int kind, const char *name, const char *path, int file, const void *data, size_t half)
{
    if (!armed || !is_counted(path))
        return 0;
    int number = ++count;
    int hit = (sticky ? number >= first : number == first) && (kind & kinds);
    char line[PATH_MAX + 64];
    int length = snprintf(line, sizeof line, "%s %d %s %s\n", name, number, hit ? "!" : "-", path);
    syscall(SYS_write, log_file, line, length);
    if (!hit)
        return 0;
    if (!error) {
        if (half)
            syscall(SYS_write, file, data, half);
        syscall(SYS_kill, getpid(), SIGKILL);
    }
    errno = error;
    return 1;
}

static int at_path(int kind, const char *name, int directory, const char *path)
{
    char full[2 * PATH_MAX], link[64];
    if (!armed)
        return 0;
    if (path[0] == '/')
        return fails(kind, name, path, -1, 0, 0);
    snprintf(link, sizeof link, directory == AT_FDCWD ? "/proc/self/cwd" : "/proc/self/fd/%d", directory);
    ssize_t length = readlink(link, full, PATH_MAX);
    if (length < 0)
        return 0;
    snprintf(full + length, PATH_MAX, "/%s", path);
    return fails(kind, name, full, -1, 0, 0);
}

static int at_file(int kind, const char *name, int file, const void *data, size_t half)
{
    char link[64], path[PATH_MAX];
    if (!armed)
        return 0;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return fails(kind, name, path, file, data, half);
}

static int do_open(int directory, const char *path, int flags, mode_t mode)
{
    int kind = flags & (O_CREAT | O_TRUNC) || (flags & O_ACCMODE) != O_RDONLY ? CREATE : READ;
    if (at_path(kind, kind == READ ? "open" : "create", directory, path))
        return -1;
    return syscall(SYS_openat, directory, path, flags, mode);
}

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
      return do_open(AT_FDCWD, path, flags, mode); }
#define OPENAT(name) \
    int name(int directory, const char *path, int flags, ...) \
    { va_list more; va_start(more, flags); mode_t mode = va_arg(more, mode_t); va_end(more); \
      return do_open(directory, path, flags, mode); }
OPEN(open) OPEN(open64) OPENAT(openat) OPENAT(openat64)
int __open_2(const char *path, int flags) { return do_open(AT_FDCWD, path, flags, 0); }
int __open64_2(const char *path, int flags) { return do_open(AT_FDCWD, path, flags, 0); }
int creat(const char *path, mode_t mode) { return do_open(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return creat(path, mode); }

#define FOPEN(name) \
    FILE *name(const char *path, const char *mode) \
    { FILE *(*next)(const char *, const char *) = dlsym(RTLD_NEXT, #name); \
      int kind = strchr("wa", mode[0]) || strchr(mode, '+') ? CREATE : READ; \
      return at_path(kind, kind == READ ? "open" : "create", AT_FDCWD, path) ? 0 : next(path, mode); }
FOPEN(fopen) FOPEN(fopen64)

ssize_t write(int file, const void *data, size_t size)
{
    return at_file(WRITE, "write", file, data, size / 1024 * 512) ? -1 : syscall(SYS_write, file, data, size);
}
ssize_t pwrite(int file, const void *data, size_t size, off_t place)
{
    return at_file(WRITE, "write", file, 0, 0) ? -1 : syscall(SYS_pwrite64, file, data, size, place);
}
ssize_t pwrite64(int file, const void *data, size_t size, off64_t place) { return pwrite(file, data, size, place); }
ssize_t writev(int file, const struct iovec *parts, int number)
{
    return at_file(WRITE, "write", file, 0, 0) ? -1 : syscall(SYS_writev, file, parts, number);
}
ssize_t sendfile(int to, int from, off_t *place, size_t size)
{
    return at_file(WRITE, "write", to, 0, 0) ? -1 : syscall(SYS_sendfile, to, from, place, size);
}
ssize_t sendfile64(int to, int from, off64_t *place, size_t size) { return sendfile(to, from, place, size); }
int ftruncate(int file, off_t size)
{
    return at_file(WRITE, "truncate", file, 0, 0) ? -1 : syscall(SYS_ftruncate, file, size);
}
int ftruncate64(int file, off64_t size) { return ftruncate(file, size); }

int fsync(int file) { return at_file(SYNC, "fsync", file, 0, 0) ? -1 : syscall(SYS_fsync, file); }
int fdatasync(int file) { return at_file(SYNC, "fsync", file, 0, 0) ? -1 : syscall(SYS_fdatasync, file); }

int renameat(int from, const char *old, int to, const char *new)
{
    return at_path(RENAME, "rename", to, new) ? -1 : syscall(SYS_renameat2, from, old, to, new, 0);
}
int rename(const char *old, const char *new) { return renameat(AT_FDCWD, old, AT_FDCWD, new); }
int linkat(int from, const char *old, int to, const char *new, int flags)
{
    return at_path(RENAME, "link", to, new) ? -1 : syscall(SYS_linkat, from, old, to, new, flags);
}
int link(const char *old, const char *new) { return linkat(AT_FDCWD, old, AT_FDCWD, new, 0); }
int symlink(const char *old, const char *new)
{
    return at_path(RENAME, "link", AT_FDCWD, new) ? -1 : syscall(SYS_symlinkat, old, AT_FDCWD, new);
}

int unlinkat(int directory, const char *path, int flags)
{
    return at_path(REMOVE, "unlink", directory, path) ? -1 : syscall(SYS_unlinkat, directory, path, flags);
}
int unlink(const char *path) { return unlinkat(AT_FDCWD, path, 0); }
int rmdir(const char *path) { return unlinkat(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path)
{
    int done = unlink(path);
    return done && errno == EISDIR ? rmdir(path) : done;
}

int mkdirat(int directory, const char *path, mode_t mode)
{
    return at_path(MKDIR, "mkdir", directory, path) ? -1 : syscall(SYS_mkdirat, directory, path, mode);
}
int mkdir(const char *path, mode_t mode) { return mkdirat(AT_FDCWD, path, mode); }
