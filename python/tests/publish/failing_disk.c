/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A library to preload: what changes files below the folder FAILING_FOLDER fails while the file FAILING_ERROR
 * is there, with the error whose number it has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#undef pwrite64
#undef ftruncate64
#undef posix_fallocate64

static int error_of(int file) {
  const char *folder = getenv("FAILING_FOLDER"), *error = getenv("FAILING_ERROR");
  char link[64], path[PATH_MAX] = "";
  int number = 0;
  FILE* reason;

  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  if (!folder || !error || readlink(link, path, sizeof path - 1) < 0 ||
      strncmp(path, folder, strlen(folder)) != 0)
    return 0;
  reason = fopen(error, "r");
  if (reason) {
    if (fscanf(reason, "%d", &number) != 1)
      number = EIO;
    fclose(reason);
  }
  return number;
}

#define FAILING(result, name, parameters, arguments)        \
  result name parameters {                                  \
    static result(*next) parameters;                        \
    int error = error_of(file);                             \
                                                            \
    if (error) {                                            \
      errno = error;                                        \
      return -1;                                            \
    }                                                       \
    if (!next)                                              \
      next = (result(*) parameters)dlsym(RTLD_NEXT, #name); \
    return next arguments;                                  \
  }

FAILING(ssize_t, write, (int file, const void* data, size_t size), (file, data, size))
FAILING(ssize_t, pwrite, (int file, const void* data, size_t size, off_t place), (file, data, size, place))
FAILING(ssize_t, pwrite64, (int file, const void* data, size_t size, off64_t place),
        (file, data, size, place))
FAILING(int, ftruncate, (int file, off_t size), (file, size))
FAILING(int, ftruncate64, (int file, off64_t size), (file, size))
FAILING(int, fsync, (int file), (file))

int posix_fallocate64(int file, off64_t place, off64_t size) {
  static int (*next)(int, off64_t, off64_t);
  int error = error_of(file);

  if (!next)
    next = (int (*)(int, off64_t, off64_t))dlsym(RTLD_NEXT, "posix_fallocate64");
  return error ? error : next(file, place, size);
}

int posix_fallocate(int file, off_t place, off_t size) {
  return posix_fallocate64(file, place, size);
}
