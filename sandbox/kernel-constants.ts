/**
 * Constants of the Linux kernel that our filters and calls use, under the kernel's names. Their values are the same for both processors
 * (asm-generic headers).
 */

// Flags for open(2)
export const O_CREAT = 0o100
export const O_PATH = 0o1000_0000

// Constants of socket(2)
export const AF_INET = 2
export const AF_NETLINK = 16
export const AF_UNIX = 1
export const SOCK_STREAM = 1

// Constants of errno(3)
export const ENOSYS = 38
export const EPERM = 1
