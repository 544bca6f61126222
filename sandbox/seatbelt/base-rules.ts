/** The network access of a command. */
export type NetworkGrant =
  | { readonly kind: 'none' }
  | { readonly kind: 'internet' }
  /** Commands can reach only our proxy on the loopback interface. The proxy decides which hosts are allowed. */
  | { readonly kind: 'proxy'; readonly port: number }

/**
 * System values about the machine and about the process itself that language runtimes query. `kern.procargs2` and `kern.proc.*` are left out, because
 * they reveal the command lines and environments of other processes.
 */
const systemFacts: readonly string[] = [
  'hw.activecpu',
  'hw.byteorder',
  'hw.cacheconfig',
  'hw.cachelinesize',
  'hw.cachelinesize_compat',
  'hw.cpufamily',
  'hw.cpufrequency',
  'hw.cpufrequency_compat',
  'hw.cpusubfamily',
  'hw.cpusubtype',
  'hw.cputype',
  'hw.l1dcachesize',
  'hw.l1dcachesize_compat',
  'hw.l1icachesize',
  'hw.l1icachesize_compat',
  'hw.l2cachesize',
  'hw.l2cachesize_compat',
  'hw.l3cachesize',
  'hw.l3cachesize_compat',
  'hw.logicalcpu',
  'hw.logicalcpu_max',
  'hw.machine',
  'hw.memsize',
  'hw.model',
  'hw.ncpu',
  'hw.nperflevels',
  'hw.packages',
  'hw.pagesize',
  'hw.pagesize_compat',
  'hw.physicalcpu',
  'hw.physicalcpu_max',
  'hw.tbfrequency',
  'hw.tbfrequency_compat',
  'hw.vectorunit',
  'kern.argmax',
  'kern.boottime',
  'kern.hostname',
  'kern.maxfiles',
  'kern.maxfilesperproc',
  'kern.maxproc',
  'kern.maxprocperuid',
  'kern.ngroups',
  'kern.osproductversion',
  'kern.osrelease',
  'kern.ostype',
  'kern.osvariant_status',
  'kern.osversion',
  'kern.secure_kernel',
  'kern.usrstack64',
  'kern.version',
  'sysctl.proc_cputype',
  'sysctl.proc_translated',
  'vm.loadavg',
]

const systemFactFamilies: readonly string[] = ['hw.optional.', 'hw.perflevel', 'machdep.cpu.']

/**
 * Services for user and group names, per-user directories, notifications and logging. They only answer queries or record messages: none of them
 * starts a program, hands out a key or reads preferences for its caller.
 */
const services: readonly string[] = [
  'com.apple.bsd.dirhelper',
  'com.apple.logd',
  'com.apple.system.DirectoryService.libinfo_v1',
  'com.apple.system.logger',
  'com.apple.system.notification_center',
  'com.apple.system.opendirectoryd.libinfo',
  'com.apple.system.opendirectoryd.membership',
]

/**
 * Services for name resolution, proxy settings and certificate trust. Only commands with full network access may use them, because some of these
 * services connect to other hosts themselves.
 */
const networkServices: readonly string[] = [
  'com.apple.SystemConfiguration.DNSConfiguration',
  'com.apple.SystemConfiguration.configd',
  'com.apple.networkd',
  'com.apple.ocspd',
  'com.apple.trustd',
  'com.apple.trustd.agent',
]

const harmlessDevices: readonly string[] = ['null', 'zero', 'random', 'urandom', 'tty', 'ptmx', 'dtracehelper']

/** The rules that are the same for every policy. They come first, before the rules for the policy's paths. */
export function baseRules(): string {
  return `(version 1)
(deny default)

; Programs may run, and may inspect and signal processes in the same sandbox. The system refuses to run set-user-id programs.
(allow process-exec)
(allow process-fork)
(allow process-info* (target same-sandbox))
(allow signal (target same-sandbox))

(allow sysctl-read
${lines('sysctl-name', systemFacts)}
${lines('sysctl-name-prefix', systemFactFamilies)})
(allow mach-lookup
${lines('global-name', services)})
(allow ipc-posix-shm-read* (ipc-posix-name "apple.shm.notification_center"))
; Only names that Python and loky use: other names may belong to programs of the host.
(allow ipc-posix-sem (ipc-posix-name-regex #"^/(mp|loky)-"))
(allow ipc-posix-shm* (ipc-posix-name-regex #"^/psm_"))

; Reading is allowed, except where later rules deny it.
(allow file-read* file-map-executable)
`
}

/** The rules about devices. They come after the policy's rules for paths, because one of those rules may apply to the whole disk. */
export function deviceRules(): string {
  return `
; Only devices that lead nowhere, and terminals that were created inside.
(deny file-read-data (subpath "/dev"))
(allow file-read-data (literal "/dev") (regex #"^/dev/fd(/|$)"))
(allow file-read-data file-write-data file-ioctl
${lines(
  'literal',
  harmlessDevices.map((name) => `/dev/${name}`),
)})
(allow file-write-data (regex #"^/dev/fd/[0-9]+$"))
(allow pseudo-tty)
(allow file-read-data file-write-data file-ioctl
  (require-all (regex #"^/dev/ttys[0-9]+$") (extension "com.apple.sandbox.pty")))
`
}

/** The rules for one kind of network access. If no access is granted, there are no rules, so everything stays denied. */
export function networkRules(grant: NetworkGrant): string {
  switch (grant.kind) {
    case 'none':
      return ''
    case 'proxy':
      return `
; The only way out is our proxy.
(allow network-outbound (remote ip "localhost:${grant.port}"))
`
    case 'internet':
      return `
; Internet addresses and the socket for name resolution are allowed, but no other socket of the host.
(allow system-socket)
(allow network-outbound (remote ip))
(allow network-outbound (literal "/private/var/run/mDNSResponder"))
(allow network-bind network-inbound (local ip))
(allow sysctl-read (sysctl-name-prefix "net.routetable."))
(allow mach-lookup
${lines('global-name', networkServices)})
`
    default:
      return grant satisfies never
  }
}

function lines(filter: string, values: readonly string[]): string {
  return values.map((value) => `  (${filter} "${value}")`).join('\n')
}
