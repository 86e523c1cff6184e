// Preloaded into the daemon by the disk benchmark: each sync takes SLOW_SYNC_MS more, and adds a byte to the file SLOW_SYNC_COUNT.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

static int slowly(const char *name, int fd) {
  int count = open(getenv("SLOW_SYNC_COUNT"), O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (count >= 0 && write(count, ".", 1) == 1) close(count);
  usleep(1000 * atoi(getenv("SLOW_SYNC_MS")));
  return ((int (*)(int))dlsym(RTLD_NEXT, name))(fd);
}

int fsync(int fd) { return slowly("fsync", fd); }
int fdatasync(int fd) { return slowly("fdatasync", fd); }
