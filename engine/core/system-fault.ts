import { isDiskFault } from './disk-fault.ts'

/** What a user can do about an error of the file system. */
const advice: Readonly<Record<string, string>> = {
  EACCES: 'this user has no permission: change the permissions (ls -ld shows them), or run the program as the owner',
  EPERM: 'this user has no permission: run the program as the owner, and see lsattr for flags that forbid it',
  ENOSPC:
    'the disk is full, or has no free inodes: free some space, or name other folders with TMPDIR and XDG_STATE_HOME',
  EDQUOT: 'the quota of this user is used up: free some space, or name other folders with TMPDIR and XDG_STATE_HOME',
  EFBIG: 'the file may not become larger: raise the limit (ulimit -f)',
  EROFS: 'the file system is read-only: name other folders with TMPDIR and XDG_STATE_HOME, or mount it writable',
  EIO: 'the disk reports an error: see the log of the kernel (dmesg)',
  EMFILE: 'this process has too many open files: raise the limit (ulimit -n)',
  ENFILE: 'this machine has too many open files: end other programs',
  ELOOP: 'its symbolic links lead in a circle, or a link is not allowed there',
  ENAMETOOLONG: 'the path is longer than the system allows: use a folder with a shorter path',
  ESTALE: 'the network file system lost the file: mount it again',
}

/**
 * Explains an error of the file system that comes from the machine, not from this program.
 *
 * @returns a sentence that names the path, if the error does, and says what to do, without a full stop; undefined for all other errors
 */
export function explainSystemFault(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('syscall' in error || isDiskFault(error))) return undefined
  const { code = '', syscall, path, dest } = error as NodeJS.ErrnoException & { readonly dest?: string }
  const words = advice[code]
  if (words === undefined) return undefined
  const from = `${code} from ${syscall ?? 'the system'}`
  if (path === undefined && isDiskFault(error)) return `A disk takes no more data (${from}): ${words}`
  // Calls on an open file name no path. Others without one, such as `kill`, aren't about files.
  if (path === undefined)
    return /^(?:write|read|close|f[a-z]+)$/.test(syscall ?? '')
      ? `An open file can't be used (${from}): ${words}`
      : undefined
  return `${[path, ...(dest === undefined ? [] : [dest])].join(' or ')} can't be used (${from}): ${words}`
}
