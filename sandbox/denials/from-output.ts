import { delimiter, join } from 'node:path'
import type { FileSystemView } from '../file-system-view.ts'
import { judgeUnreachable } from '../network/decide-host.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { evaluateAccess } from './evaluate-access.ts'
import { namedHost, namedPaths } from './paths-in-output.ts'

/** The parts of a command's result that can show denials. `code` is null if a signal or this program killed the command. */
type EndedCommand = {
  readonly stderr: string
  readonly cwd: string
  readonly code: number | null
  /** Whether a path of this machine isn't there for the command. Default: everything is there. */
  readonly isOutOfSight?: (path: string) => boolean
  /** The command's PATH. */
  readonly path?: string | undefined
}

/** The maximum number of denials to report from one command's output. Reporting more would hardly tell the user anything new. */
const mostDenials = 5

/**
 * 128 + SIGSYS, the exit code that bwrap and shells report if the system call filter killed a process. It kills a process only for system
 * calls of a foreign architecture.
 */
const killedByFilter = 128 + 31

/**
 * Finds denials in a command's output. A path or a host counts if a line of the output mentions it together with a refusal *and* the policy does
 * refuse it. If the command failed, its exit code or, if nothing else was found, the message "Operation not permitted" can indicate a refused system
 * call. All of these denials are only suspected: a command can print anything, so only evidence from the kernel or the proxy proves a denial.
 */
export function denialsFromOutput(policy: SandboxPolicy, ended: EndedCommand, host: FileSystemView): readonly Denial[] {
  // Most commands write no errors, so their only line is empty. It is left out, because otherwise the patterns below would be compiled even for such
  // commands, which takes longer than the rest.
  const lines = ended.stderr.split('\n').filter((line) => line !== '')
  const found = new Map<string, Denial>()
  for (const line of lines) {
    const seen = [...pathDenials(policy, line, ended, host), ...missingPrograms(line, ended, host)]
    for (const denial of [...seen, ...hostDenials(policy, line)]) {
      found.set(`${denial.kind} ${denial.subject}`, denial)
    }
  }
  if (ended.code === 0) return [...found.values()].slice(0, mostDenials)
  if (ended.code === killedByFilter) found.set('syscall', foreignInterface)
  const notPermitted = lines.filter((line) => /Operation not permitted|\bEPERM\b/i.test(line))
  if (found.size === 0 && notPermitted.length > 0) {
    const isSocket = !policy.unixSockets && notPermitted.some(namesUnixSocket)
    found.set('syscall', isSocket ? refusedSocket : refusedCall)
  }
  return [...found.values()].slice(0, mostDenials)
}

const foreignInterface: Denial = {
  kind: 'syscall',
  subject: 'of the 32-bit or x32 interface',
  rule: 'the system call filter',
  certainty: 'suspected',
  remedy: { kind: 'otherwise', advice: 'use a 64-bit program built for this processor' },
}

const refusedCall: Denial = {
  kind: 'syscall',
  subject: 'that failed with "Operation not permitted"',
  rule: 'the system call filter, or the missing capabilities',
  certainty: 'suspected',
  remedy: {
    kind: 'otherwise',
    advice: 'run the command outside the sandbox if it really needs debugging, mounts, namespaces, keyrings or sockets',
  },
}

const refusedSocket: Denial = {
  ...refusedCall,
  subject: 'that opens a unix socket',
  remedy: { kind: 'open-unix-sockets' },
}

/** Whether an error message is about a unix socket, in the words of tmux, Node, ssh-agent or programs that wrap their errors. */
function namesUnixSocket(line: string): boolean {
  const start = line.slice(0, 2_000)
  return /\bunix\b|\bAF_UNIX\b|\.sock(?:et)?\b|^error (?:creating|connecting to) \/|\bsocket\(?\)?:|\bEPERM: operation not permitted \//i.test(
    start,
  )
}

function pathDenials(
  policy: SandboxPolicy,
  line: string,
  { cwd, code, isOutOfSight }: EndedCommand,
  host: FileSystemView,
): readonly Denial[] {
  const refusedWrite = /Read-only file system|\bEROFS\b/i.test(line)
  const refusedAccess = /Permission denied|\bEACCES\b/i.test(line)
  const refused = refusedWrite || refusedAccess || /Device or resource busy|\bEBUSY\b/i.test(line)
  // A denied directory looks empty, so a file that the command expected in it seems to be missing. If the command succeeded, it didn't need the file.
  const missing = code !== 0 && /No such file or directory|\bENOENT\b/.test(line)
  if (!refused && !missing) return []
  return namedPaths(line, cwd).flatMap((path): readonly Denial[] => {
    // If the file doesn't exist on the host either, the sandbox is not the reason.
    if (!refused && host.kindOf(path) === 'absent') return []
    const read = refusedWrite ? undefined : evaluateAccess(policy, { path, want: 'read' }, host)
    const write = refused ? evaluateAccess(policy, { path, want: 'write' }, host) : undefined
    const verdict = read?.allowed === false ? read : write
    if (missing && read?.allowed === true && isOutOfSight?.(host.realPath(path) ?? path) === true)
      return [notShown(path)]
    if (verdict === undefined || verdict.allowed) return []
    // The sandbox refuses a write with "Read-only file system". If the message is "Permission denied" instead, the file's own mode is probably the reason.
    if (!refusedWrite && verdict === write && refusedAccess) return []
    const { rule, remedy } = verdict
    return [{ kind: 'path', subject: path, rule, certainty: 'suspected', remedy }]
  })
}

function notShown(path: string): Denial {
  const remedy = { kind: 'add-root', to: 'readableRoots', path } as const
  return { kind: 'path', subject: path, rule: 'home: closed', certainty: 'suspected', remedy }
}

/** Matches what shells say of a program that they don't find. */
const notFound = /(?:^|[\s:])([\w.+-]{1,100}): (?:command )?not found$/

/** The program that a shell didn't find, if it is on the PATH outside the sandbox. */
function missingPrograms(
  line: string,
  { isOutOfSight, path, code }: EndedCommand,
  host: FileSystemView,
): readonly Denial[] {
  if (isOutOfSight === undefined || code === 0 || path === undefined) return []
  const name = notFound.exec(line.slice(-300))?.[1]
  if (name === undefined) return []
  const files = path.split(delimiter).map((folder) => join(folder, name))
  const found = files.find((file) => host.kindOf(file) === 'file')
  return found !== undefined && isOutOfSight(host.realPath(found) ?? found) ? [notShown(found)] : []
}

function hostDenials(policy: SandboxPolicy, line: string): readonly Denial[] {
  if (policy.network.mode === 'full' || policy.mode === 'danger-full-access') return []
  const host = namedHost(line)
  if (host === undefined || policy.credentials.some(({ hosts }) => hosts.some((text) => text.split(':')[0] === host)))
    return []
  if (line.startsWith('ssh: ')) {
    const remedy = { kind: 'use-credential', host } as const
    return [{ kind: 'host', subject: `${host}:22`, rule: 'network: no ssh', certainty: 'suspected', remedy }]
  }
  if (policy.network.mode === 'allowlist') return judgeUnreachable(policy.network.allow, host)
  return [
    { kind: 'host', subject: host, rule: 'network: off', certainty: 'suspected', remedy: { kind: 'allow-host', host } },
  ]
}
