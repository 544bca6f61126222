import { ENOSYS, EPERM } from '../kernel-constants.ts'

/** The processor architectures for which a system call filter can be compiled. */
export type Architecture = 'x64' | 'arm64'

/** What the filter does with a system call, unless a rule about the call's arguments decides first (`rules.ts`). */
export type Ruling = 'allow' | { readonly errno: number }

const refused = { errno: EPERM }
/** Programs and libraries try such a call and use an older one if it doesn't exist. */
const absent = { errno: ENOSYS }

/** The rulings of the rows in the table below, each with the reason. */
const rulings = {
  /** Docker's default seccomp profile (moby/profiles, seccomp/default.json) allows the call to containers without any capability. */
  docker: 'allow',
  /** Only the kernel makes these calls, from code that it puts into a process that the host traces; by itself, the call is useless (uprobes). */
  kernel: 'allow',
  /** A rule allows some arguments. Docker's profile refuses the call to containers that lack CAP_SYS_ADMIN. */
  namespaces: 'allow',
  /** These use the memory and descriptors of other processes, for which docker's profile requires CAP_SYS_PTRACE or CAP_SYS_NICE. */
  processes: refused,
  /** Docker's profile requires CAP_SYS_NICE. Runtimes and libraries work without. */
  numa: refused,
  /** The implementation of these calls is large, new, or often attacked. Docker's profile refuses them too, except for modify_ldt. */
  attacked: refused,
  /** Keyrings belong to the user and are shared with the host. Docker's profile refuses them too. */
  keyrings: refused,
  /** These change mounts and namespaces, or reach files past them. Docker's profile requires capabilities that commands don't have. */
  mounts: refused,
  /** These change the machine itself. Docker's profile requires capabilities that commands don't have (except to read with clock_adjtime). */
  machine: refused,
  /**
   * The arguments are behind a pointer, which a filter can't follow: namespaces in clone3 (docker's profile does the same), and modes in openat2.
   * Libraries then use an older call, whose arguments can be checked.
   */
  pointers: absent,
  /**
   * Newer or rare calls that builds and tests don't need; most are allowed by docker's profile. They describe all mounts and security modules
   * (statmount, listmount, lsm_*), reveal which parts of the host's files are in memory (cachestat), hide memory from the kernel (memfd_secret), free
   * the memory of a dying process (process_mrelease), give memory away to pipes, which was attacked several times (vmsplice), or change a file's
   * flags by path, for which there are older calls (file_getattr, file_setattr).
   */
  unneeded: absent,
  /** Linux on these processors doesn't implement the call any more, or never did, or only for programs of the 1990s. */
  gone: absent,
} as const satisfies Record<string, Ruling>

/**
 * The table of system calls: the number for x86-64 (asm/unistd_64.h), the number for arm64 (asm-generic/unistd.h), and the ruling. `null` means that
 * the architecture has no such call. A call without a row seems not to exist (ENOSYS), as on an older kernel.
 */
// With one row a line, the table wouldn't fit on a few screens.
// prettier-ignore
const table = {
  read: [0, 63, 'docker'], write: [1, 64, 'docker'], open: [2, null, 'docker'], close: [3, 57, 'docker'], stat: [4, null, 'docker'],
  fstat: [5, 80, 'docker'], lstat: [6, null, 'docker'], poll: [7, null, 'docker'], lseek: [8, 62, 'docker'], mmap: [9, 222, 'docker'],
  mprotect: [10, 226, 'docker'], munmap: [11, 215, 'docker'], brk: [12, 214, 'docker'], rt_sigaction: [13, 134, 'docker'],
  rt_sigprocmask: [14, 135, 'docker'], rt_sigreturn: [15, 139, 'docker'], ioctl: [16, 29, 'docker'], pread64: [17, 67, 'docker'],
  pwrite64: [18, 68, 'docker'], readv: [19, 65, 'docker'], writev: [20, 66, 'docker'], access: [21, null, 'docker'], pipe: [22, null, 'docker'],
  select: [23, null, 'docker'], sched_yield: [24, 124, 'docker'], mremap: [25, 216, 'docker'], msync: [26, 227, 'docker'],
  mincore: [27, 232, 'docker'], madvise: [28, 233, 'docker'], shmget: [29, 194, 'docker'], shmat: [30, 196, 'docker'], shmctl: [31, 195, 'docker'],
  dup: [32, 23, 'docker'], dup2: [33, null, 'docker'], pause: [34, null, 'docker'], nanosleep: [35, 101, 'docker'], getitimer: [36, 102, 'docker'],
  alarm: [37, null, 'docker'], setitimer: [38, 103, 'docker'], getpid: [39, 172, 'docker'], sendfile: [40, 71, 'docker'], socket: [41, 198, 'docker'],
  connect: [42, 203, 'docker'], accept: [43, 202, 'docker'], sendto: [44, 206, 'docker'], recvfrom: [45, 207, 'docker'], sendmsg: [46, 211, 'docker'],
  recvmsg: [47, 212, 'docker'], shutdown: [48, 210, 'docker'], bind: [49, 200, 'docker'], listen: [50, 201, 'docker'],
  getsockname: [51, 204, 'docker'], getpeername: [52, 205, 'docker'], socketpair: [53, 199, 'docker'], setsockopt: [54, 208, 'docker'],
  getsockopt: [55, 209, 'docker'], clone: [56, 220, 'docker'], fork: [57, null, 'docker'], vfork: [58, null, 'docker'], execve: [59, 221, 'docker'],
  exit: [60, 93, 'docker'], wait4: [61, 260, 'docker'], kill: [62, 129, 'docker'], uname: [63, 160, 'docker'], semget: [64, 190, 'docker'],
  semop: [65, 193, 'docker'], semctl: [66, 191, 'docker'], shmdt: [67, 197, 'docker'], msgget: [68, 186, 'docker'], msgsnd: [69, 189, 'docker'],
  msgrcv: [70, 188, 'docker'], msgctl: [71, 187, 'docker'], fcntl: [72, 25, 'docker'], flock: [73, 32, 'docker'], fsync: [74, 82, 'docker'],
  fdatasync: [75, 83, 'docker'], truncate: [76, 45, 'docker'], ftruncate: [77, 46, 'docker'], getdents: [78, null, 'docker'],
  getcwd: [79, 17, 'docker'], chdir: [80, 49, 'docker'], fchdir: [81, 50, 'docker'], rename: [82, null, 'docker'], mkdir: [83, null, 'docker'],
  rmdir: [84, null, 'docker'], creat: [85, null, 'docker'], link: [86, null, 'docker'], unlink: [87, null, 'docker'], symlink: [88, null, 'docker'],
  readlink: [89, null, 'docker'], chmod: [90, null, 'docker'], fchmod: [91, 52, 'docker'], chown: [92, null, 'docker'], fchown: [93, 55, 'docker'],
  lchown: [94, null, 'docker'], umask: [95, 166, 'docker'], gettimeofday: [96, 169, 'docker'], getrlimit: [97, 163, 'docker'],
  getrusage: [98, 165, 'docker'], sysinfo: [99, 179, 'docker'], times: [100, 153, 'docker'], ptrace: [101, 117, 'docker'],
  getuid: [102, 174, 'docker'], getgid: [104, 176, 'docker'], setuid: [105, 146, 'docker'], setgid: [106, 144, 'docker'],
  geteuid: [107, 175, 'docker'], getegid: [108, 177, 'docker'], setpgid: [109, 154, 'docker'], getppid: [110, 173, 'docker'],
  getpgrp: [111, null, 'docker'], setsid: [112, 157, 'docker'], setreuid: [113, 145, 'docker'], setregid: [114, 143, 'docker'],
  getgroups: [115, 158, 'docker'], setgroups: [116, 159, 'docker'], setresuid: [117, 147, 'docker'], getresuid: [118, 148, 'docker'],
  setresgid: [119, 149, 'docker'], getresgid: [120, 150, 'docker'], getpgid: [121, 155, 'docker'], setfsuid: [122, 151, 'docker'],
  setfsgid: [123, 152, 'docker'], getsid: [124, 156, 'docker'], capget: [125, 90, 'docker'], capset: [126, 91, 'docker'],
  rt_sigpending: [127, 136, 'docker'], rt_sigtimedwait: [128, 137, 'docker'], rt_sigqueueinfo: [129, 138, 'docker'],
  rt_sigsuspend: [130, 133, 'docker'], sigaltstack: [131, 132, 'docker'], utime: [132, null, 'docker'], mknod: [133, null, 'docker'],
  personality: [135, 92, 'docker'], statfs: [137, 43, 'docker'], fstatfs: [138, 44, 'docker'], getpriority: [140, 141, 'docker'],
  setpriority: [141, 140, 'docker'], sched_setparam: [142, 118, 'docker'], sched_getparam: [143, 121, 'docker'],
  sched_setscheduler: [144, 119, 'docker'], sched_getscheduler: [145, 120, 'docker'], sched_get_priority_max: [146, 125, 'docker'],
  sched_get_priority_min: [147, 126, 'docker'], sched_rr_get_interval: [148, 127, 'docker'], mlock: [149, 228, 'docker'],
  munlock: [150, 229, 'docker'], mlockall: [151, 230, 'docker'], munlockall: [152, 231, 'docker'], prctl: [157, 167, 'docker'],
  arch_prctl: [158, null, 'docker'], adjtimex: [159, 171, 'docker'], setrlimit: [160, 164, 'docker'], sync: [162, 81, 'docker'],
  gettid: [186, 178, 'docker'], readahead: [187, 213, 'docker'], setxattr: [188, 5, 'docker'], lsetxattr: [189, 6, 'docker'],
  fsetxattr: [190, 7, 'docker'], getxattr: [191, 8, 'docker'], lgetxattr: [192, 9, 'docker'], fgetxattr: [193, 10, 'docker'],
  listxattr: [194, 11, 'docker'], llistxattr: [195, 12, 'docker'], flistxattr: [196, 13, 'docker'], removexattr: [197, 14, 'docker'],
  lremovexattr: [198, 15, 'docker'], fremovexattr: [199, 16, 'docker'], tkill: [200, 130, 'docker'], time: [201, null, 'docker'],
  futex: [202, 98, 'docker'], sched_setaffinity: [203, 122, 'docker'], sched_getaffinity: [204, 123, 'docker'], io_setup: [206, 0, 'docker'],
  io_destroy: [207, 1, 'docker'], io_getevents: [208, 4, 'docker'], io_submit: [209, 2, 'docker'], io_cancel: [210, 3, 'docker'],
  epoll_create: [213, null, 'docker'], remap_file_pages: [216, 234, 'docker'], getdents64: [217, 61, 'docker'], set_tid_address: [218, 96, 'docker'],
  restart_syscall: [219, 128, 'docker'], semtimedop: [220, 192, 'docker'], fadvise64: [221, 223, 'docker'], timer_create: [222, 107, 'docker'],
  timer_settime: [223, 110, 'docker'], timer_gettime: [224, 108, 'docker'], timer_getoverrun: [225, 109, 'docker'],
  timer_delete: [226, 111, 'docker'], clock_gettime: [228, 113, 'docker'], clock_getres: [229, 114, 'docker'], clock_nanosleep: [230, 115, 'docker'],
  exit_group: [231, 94, 'docker'], epoll_wait: [232, null, 'docker'], epoll_ctl: [233, 21, 'docker'], tgkill: [234, 131, 'docker'],
  utimes: [235, null, 'docker'], mq_open: [240, 180, 'docker'], mq_unlink: [241, 181, 'docker'], mq_timedsend: [242, 182, 'docker'],
  mq_timedreceive: [243, 183, 'docker'], mq_notify: [244, 184, 'docker'], mq_getsetattr: [245, 185, 'docker'], waitid: [247, 95, 'docker'],
  ioprio_set: [251, 30, 'docker'], ioprio_get: [252, 31, 'docker'], inotify_init: [253, null, 'docker'], inotify_add_watch: [254, 27, 'docker'],
  inotify_rm_watch: [255, 28, 'docker'], openat: [257, 56, 'docker'], mkdirat: [258, 34, 'docker'], mknodat: [259, 33, 'docker'],
  fchownat: [260, 54, 'docker'], futimesat: [261, null, 'docker'], newfstatat: [262, 79, 'docker'], unlinkat: [263, 35, 'docker'],
  renameat: [264, 38, 'docker'], linkat: [265, 37, 'docker'], symlinkat: [266, 36, 'docker'], readlinkat: [267, 78, 'docker'],
  fchmodat: [268, 53, 'docker'], faccessat: [269, 48, 'docker'], pselect6: [270, 72, 'docker'], ppoll: [271, 73, 'docker'],
  set_robust_list: [273, 99, 'docker'], get_robust_list: [274, 100, 'docker'], splice: [275, 76, 'docker'], tee: [276, 77, 'docker'],
  sync_file_range: [277, 84, 'docker'], utimensat: [280, 88, 'docker'], epoll_pwait: [281, 22, 'docker'], signalfd: [282, null, 'docker'],
  timerfd_create: [283, 85, 'docker'], eventfd: [284, null, 'docker'], fallocate: [285, 47, 'docker'], timerfd_settime: [286, 86, 'docker'],
  timerfd_gettime: [287, 87, 'docker'], accept4: [288, 242, 'docker'], signalfd4: [289, 74, 'docker'], eventfd2: [290, 19, 'docker'],
  epoll_create1: [291, 20, 'docker'], dup3: [292, 24, 'docker'], pipe2: [293, 59, 'docker'], inotify_init1: [294, 26, 'docker'],
  preadv: [295, 69, 'docker'], pwritev: [296, 70, 'docker'], rt_tgsigqueueinfo: [297, 240, 'docker'], recvmmsg: [299, 243, 'docker'],
  prlimit64: [302, 261, 'docker'], name_to_handle_at: [303, null, 'docker'], syncfs: [306, 267, 'docker'], sendmmsg: [307, 269, 'docker'],
  getcpu: [309, 168, 'docker'], process_vm_readv: [310, 270, 'docker'], process_vm_writev: [311, 271, 'docker'], sched_setattr: [314, 274, 'docker'],
  sched_getattr: [315, 275, 'docker'], renameat2: [316, 276, 'docker'], seccomp: [317, 277, 'docker'], getrandom: [318, 278, 'docker'],
  memfd_create: [319, 279, 'docker'], execveat: [322, 281, 'docker'], membarrier: [324, 283, 'docker'], mlock2: [325, 284, 'docker'],
  copy_file_range: [326, 285, 'docker'], preadv2: [327, 286, 'docker'], pwritev2: [328, 287, 'docker'], pkey_mprotect: [329, 288, 'docker'],
  pkey_alloc: [330, 289, 'docker'], pkey_free: [331, 290, 'docker'], statx: [332, 291, 'docker'], io_pgetevents: [333, 292, 'docker'],
  rseq: [334, 293, 'docker'], pidfd_send_signal: [424, 424, 'docker'], pidfd_open: [434, 434, 'docker'], close_range: [436, 436, 'docker'],
  faccessat2: [439, 439, 'docker'], epoll_pwait2: [441, 441, 'docker'], landlock_create_ruleset: [444, 444, 'docker'],
  landlock_add_rule: [445, 445, 'docker'], landlock_restrict_self: [446, 446, 'docker'], futex_waitv: [449, 449, 'docker'],
  fchmodat2: [452, 452, 'docker'], map_shadow_stack: [453, 453, 'docker'], futex_wake: [454, 454, 'docker'], futex_wait: [455, 455, 'docker'],
  futex_requeue: [456, 456, 'docker'], mseal: [462, 462, 'docker'], setxattrat: [463, 463, 'docker'], getxattrat: [464, 464, 'docker'],
  listxattrat: [465, 465, 'docker'], removexattrat: [466, 466, 'docker'],
  migrate_pages: [256, 238, 'processes'], move_pages: [279, 239, 'processes'], kcmp: [312, 272, 'processes'], pidfd_getfd: [438, 438, 'processes'],
  process_madvise: [440, 440, 'processes'],
  mbind: [237, 235, 'numa'], set_mempolicy: [238, 237, 'numa'], get_mempolicy: [239, 236, 'numa'], set_mempolicy_home_node: [450, 450, 'numa'],
  modify_ldt: [154, null, 'attacked'], perf_event_open: [298, 241, 'attacked'], bpf: [321, 280, 'attacked'], userfaultfd: [323, 282, 'attacked'],
  io_uring_setup: [425, 425, 'attacked'], io_uring_enter: [426, 426, 'attacked'], io_uring_register: [427, 427, 'attacked'],
  add_key: [248, 217, 'keyrings'], request_key: [249, 218, 'keyrings'], keyctl: [250, 219, 'keyrings'],
  pivot_root: [155, 41, 'mounts'], chroot: [161, 51, 'mounts'], mount: [165, 40, 'mounts'], umount2: [166, 39, 'mounts'],
  fanotify_init: [300, 262, 'mounts'], fanotify_mark: [301, 263, 'mounts'], open_by_handle_at: [304, null, 'mounts'], setns: [308, 268, 'mounts'],
  open_tree: [428, 428, 'mounts'], move_mount: [429, 429, 'mounts'], fsopen: [430, 430, 'mounts'], fsconfig: [431, 431, 'mounts'],
  fsmount: [432, 432, 'mounts'], fspick: [433, 433, 'mounts'], mount_setattr: [442, 442, 'mounts'], open_tree_attr: [467, 467, 'mounts'],
  syslog: [103, 116, 'machine'], vhangup: [153, 58, 'machine'], acct: [163, 89, 'machine'], settimeofday: [164, 170, 'machine'],
  swapon: [167, 224, 'machine'], swapoff: [168, 225, 'machine'], reboot: [169, 142, 'machine'], sethostname: [170, 161, 'machine'],
  setdomainname: [171, 162, 'machine'], iopl: [172, null, 'machine'], ioperm: [173, null, 'machine'], init_module: [175, 105, 'machine'],
  delete_module: [176, 106, 'machine'], quotactl: [179, 60, 'machine'], clock_settime: [227, 112, 'machine'], kexec_load: [246, 104, 'machine'],
  clock_adjtime: [305, 266, 'machine'], finit_module: [313, 273, 'machine'], kexec_file_load: [320, 294, 'machine'],
  quotactl_fd: [443, 443, 'machine'],
  clone3: [435, 435, 'pointers'], openat2: [437, 437, 'pointers'],
  vmsplice: [278, 75, 'unneeded'], memfd_secret: [447, 447, 'unneeded'], process_mrelease: [448, 448, 'unneeded'], cachestat: [451, 451, 'unneeded'],
  statmount: [457, 457, 'unneeded'], listmount: [458, 458, 'unneeded'], lsm_get_self_attr: [459, 459, 'unneeded'],
  lsm_set_self_attr: [460, 460, 'unneeded'], lsm_list_modules: [461, 461, 'unneeded'], file_getattr: [468, 468, 'unneeded'],
  file_setattr: [469, 469, 'unneeded'],
  unshare: [272, 97, 'namespaces'],
  uselib: [134, null, 'gone'], ustat: [136, null, 'gone'], sysfs: [139, null, 'gone'], _sysctl: [156, null, 'gone'],
  create_module: [174, null, 'gone'], get_kernel_syms: [177, null, 'gone'], query_module: [178, null, 'gone'], nfsservctl: [180, 42, 'gone'],
  getpmsg: [181, null, 'gone'], putpmsg: [182, null, 'gone'], afs_syscall: [183, null, 'gone'], tuxcall: [184, null, 'gone'],
  security: [185, null, 'gone'], set_thread_area: [205, null, 'gone'], get_thread_area: [211, null, 'gone'], lookup_dcookie: [212, 18, 'gone'],
  epoll_ctl_old: [214, null, 'gone'], epoll_wait_old: [215, null, 'gone'], vserver: [236, null, 'gone'],
  uretprobe: [335, null, 'kernel'], uprobe: [336, null, 'kernel'],
} as const satisfies Record<string, readonly [number | null, number | null, keyof typeof rulings]>

export type Syscall = keyof typeof table

/** What happens to a system call that has no row. */
export const unknownCall = absent

/** The number of a system call; undefined if the architecture has no such call. */
export function syscallNumber(name: Syscall, architecture: Architecture): number | undefined {
  return table[name][architecture === 'x64' ? 0 : 1] ?? undefined
}

/** The ruling about a system call. */
export function rulingOf(name: Syscall): Ruling {
  return rulings[table[name][2]]
}

/** The names of all system calls that an architecture has, in ascending order of their numbers. */
export function syscallsOf(architecture: Architecture): readonly Syscall[] {
  // `Object.keys` returns strings of any kind as far as TypeScript knows, but the keys of this constant object are known.
  const names = Object.keys(table) as Syscall[]
  return names
    .flatMap((name) => {
      const number = syscallNumber(name, architecture)
      return number === undefined ? [] : [{ name, number }]
    })
    .toSorted((a, b) => a.number - b.number)
    .map(({ name }) => name)
}
