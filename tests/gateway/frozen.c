/* A disk that turns read-only under a running program, and back. While the file named by FROZEN_SWITCH exists, writing to
 * files below the folder named by FROZEN_FOLDER fails as on a read-only file system.
 *
 * Compiled and loaded (LD_PRELOAD) by stores.py: the kernel refuses to remount a disk on which a file is open for writing,
 * and one that turned read-only after an error does not turn back. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static int is_frozen(int file)
{
    const char *toggle = getenv("FROZEN_SWITCH"), *folder = getenv("FROZEN_FOLDER");
    if (!toggle || !folder || access(toggle, F_OK) != 0)
        return 0;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0)
        return 0;
    path[length] = 0;
    return strncmp(path, folder, strlen(folder)) == 0;
}

/* Defines a function of the C library that fails while its file is frozen. */
#define REFUSING(result, name, parameters, arguments)                              \
    result name parameters                                                         \
    {                                                                              \
        static result(*next) parameters;                                           \
        if (!next)                                                                 \
            next = (result(*) parameters)dlsym(RTLD_NEXT, #name);                  \
        if (is_frozen(file)) {                                                     \
            errno = EROFS;                                                         \
            return -1;                                                             \
        }                                                                          \
        return next arguments;                                                     \
    }

REFUSING(ssize_t, write, (int file, const void *bytes, size_t count), (file, bytes, count))
REFUSING(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), (file, bytes, count, at))
REFUSING(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), (file, bytes, count, at))
REFUSING(int, ftruncate, (int file, off_t length), (file, length))
REFUSING(int, ftruncate64, (int file, off64_t length), (file, length))
