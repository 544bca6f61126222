import type { HostPatternInput } from '../network/host-pattern.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'

/** The remedy for a denial, as data. Callers put it into words, because they know which flags and which configuration file the user has. */
export type Remedy =
  /** Makes only the path itself a root, never a directory around it. `absent`: the path doesn't exist yet, and a person has to create it first. */
  | {
      readonly kind: 'add-root'
      readonly to: 'writableRoots' | 'readableRoots'
      readonly path: string
      readonly absent?: boolean
    }
  /**
   * Allows reading a path that `deniedReads` hides. `place` is the entry of `deniedReads`. `path` is the requested path, which is `place` or is
   * inside it.
   */
  | { readonly kind: 'show-denied'; readonly place: string; readonly path: string }
  | { readonly kind: 'unprotect'; readonly path: string }
  /** Lets commands see a docker daemon's socket. Every process that can connect to this socket can become root. */
  | { readonly kind: 'show-docker-socket' }
  /**
   * Lets commands use unix sockets. It allows all of them, because a command's own sockets can't be distinguished from those sockets of this machine
   * that the command can see.
   */
  | { readonly kind: 'open-unix-sockets' }
  | { readonly kind: 'use-mode'; readonly mode: 'workspace-write' }
  | { readonly kind: 'allow-host'; readonly host: HostPatternInput }
  /** Lets commands reach a program of this machine at its port, as `HOST:PORT`. */
  | { readonly kind: 'add-service'; readonly service: string }
  /** Lets git use a credential for a host that it asked by ssh, for which commands have no key. */
  | { readonly kind: 'use-credential'; readonly host: string }
  /** Raises a limit. `value` is the current limit, in the limit's own unit. */
  | { readonly kind: 'raise-limit'; readonly limit: LimitName; readonly value: number }
  /** A remedy that isn't a single change to the policy; `advice` says what a person can do. */
  | { readonly kind: 'otherwise'; readonly advice: string }

export type LimitName = keyof SandboxPolicy['limits']

/** Describes a remedy by naming the field of the policy to change. */
export function describeRemedy(remedy: Remedy): string {
  switch (remedy.kind) {
    case 'add-root':
      return `${makeFirst(remedy)}add ${remedy.path} to ${remedy.to}`
    case 'show-denied':
      return `remove ${remedy.place} from deniedReads, or add ${remedy.path} to readableRoots`
    case 'unprotect':
      return `remove ${remedy.path} from protectedPaths`
    case 'show-docker-socket':
      return 'set dockerSocket, which gives commands root access to this machine'
    case 'open-unix-sockets':
      return 'set unixSockets, which lets commands connect to every socket of this machine that they can see'
    case 'use-mode':
      return `use ${remedy.mode} mode`
    case 'allow-host':
      return `add ${JSON.stringify(remedy.host)} to network.allow`
    case 'add-service':
      return `add ${JSON.stringify(remedy.service)} to services`
    case 'use-credential':
      return `add ${remedy.host} to credentials, for git then asks it by https: ssh has no key in the sandbox`
    case 'raise-limit':
      return `raise limits.${remedy.limit}, which is ${remedy.value}`
    case 'otherwise':
      return remedy.advice
    default:
      return remedy satisfies never
  }
}

/**
 * The beginning of a sentence: what a person has to do before a missing path can be added as a root. Empty if the path exists.
 *
 * @internal
 */
export function makeFirst({ path, absent }: Extract<Remedy, { kind: 'add-root' }>): string {
  return absent === true ? `make ${path} yourself, then ` : ''
}
