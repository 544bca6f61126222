/**
 * Constants of the Linux kernel that our programs and filters use, under the kernel's names. Their values are the same for both processors
 * (asm-generic headers).
 */

// Flags for open(2), and for calls that take a directory's descriptor.
export const AT_EMPTY_PATH = 0x1000
export const AT_FDCWD = -100
export const AT_RECURSIVE = 0x8000
export const OPEN_TREE_CLONE = 1
export const O_CLOEXEC = 0o200_0000
export const O_CREAT = 0o100
export const O_PATH = 0o1000_0000
export const O_WRONLY = 1

// Constants of socket(2)
export const AF_INET = 2
export const AF_NETLINK = 16
export const AF_UNIX = 1
export const SOCK_STREAM = 1
export const SOL_SOCKET = 1

// Constants of signal(7)
export const SIGCHLD = 17
export const SIGTERM = 15
export const SIG_SETMASK = 2

// Constants of ioctl_tty(2)
export const TIOCSWINSZ = 0x5414

// Constants of prctl(2) and seccomp(2)
export const PR_SET_NO_NEW_PRIVS = 38
export const SECCOMP_SET_MODE_FILTER = 1

// Constants of errno(3)
export const ENOSYS = 38
export const EPERM = 1
