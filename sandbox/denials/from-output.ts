import { isAbsolute, join, normalize } from 'node:path'
import type { FileSystemView } from '../file-system-view.ts'
import { judgeUnreachable } from '../network/decide.ts'
import type { SandboxPolicy } from '../policy.ts'
import type { Denial } from '../sandbox.ts'
import { evaluateAccess } from './evaluate.ts'

/** What a failed command said, as far as it matters here. */
type FailedCommand = { readonly stderr: string; readonly cwd: string; readonly code: number }

/** More would be the same mistake over and over. */
const mostDenials = 5

/** 128 + SIGSYS, as bwrap and shells report it: the filter ends a process only for a foreign system call interface. */
const killedByFilter = 128 + 31

/**
 * Denials that a failed command's output leads to. Words alone prove nothing: a path or a host counts when the output names it
 * together with a refusal *and* the policy does refuse it. What stays without such a proof is a suspicion, and there is one only.
 */
export function denialsFromOutput(
  policy: SandboxPolicy,
  failed: FailedCommand,
  host: FileSystemView,
): readonly Denial[] {
  const lines = failed.stderr.split('\n')
  const found = new Map<string, Denial>()
  for (const line of lines) {
    for (const denial of [...pathDenials(policy, line, failed.cwd, host), ...hostDenials(policy, line)]) {
      found.set(`${denial.kind} ${denial.subject}`, denial)
    }
  }
  if (failed.code === killedByFilter) found.set('syscall', foreignInterface)
  if (found.size === 0 && lines.some((line) => /Operation not permitted|\bEPERM\b/.test(line))) {
    found.set('syscall', refusedCall)
  }
  return [...found.values()].slice(0, mostDenials)
}

const foreignInterface: Denial = {
  kind: 'syscall',
  subject: 'of the 32-bit or x32 interface',
  rule: 'the system call filter',
  certainty: 'suspected',
  howToAllow: 'use a program built for this processor in 64 bits',
}

const refusedCall: Denial = {
  kind: 'syscall',
  subject: 'that failed with "Operation not permitted"',
  rule: 'the system call filter, or the missing capabilities',
  certainty: 'suspected',
  howToAllow: 'do it outside the sandbox if it really needs debugging, mounts, namespaces, keyrings or sockets',
}

function pathDenials(policy: SandboxPolicy, line: string, cwd: string, host: FileSystemView): readonly Denial[] {
  const refusedWrite = /Read-only file system|\bEROFS\b/.test(line)
  const refused = refusedWrite || /Permission denied|\bEACCES\b|Device or resource busy|\bEBUSY\b/i.test(line)
  // A denied directory reads as empty, so what is asked for in it is missing.
  const missing = /No such file or directory|\bENOENT\b/.test(line)
  if (!refused && !missing) return []
  return pathsIn(line, cwd).flatMap((path): readonly Denial[] => {
    const read = refusedWrite ? undefined : evaluateAccess(policy, { path, want: 'read' }, host)
    const write = refused ? evaluateAccess(policy, { path, want: 'write' }, host) : undefined
    const verdict = read?.allowed === false ? read : write
    if (verdict === undefined || verdict.allowed) return []
    // An ordinary file mode refuses too; only a place that is hidden or read-only by policy is ours.
    if (!refusedWrite && verdict === write && /Permission denied|EACCES/i.test(line)) return []
    const { rule, howToAllow } = verdict
    return [{ kind: 'path', subject: path, rule, certainty: 'proven', howToAllow }]
  })
}

/** What may be a path in a message: quoted, absolute, or the part before the reason, as in `cat: PATH: Permission denied`. */
function pathsIn(message: string, cwd: string): readonly string[] {
  // Of three parts the first is the program that complains.
  const line = message.replace(/^[^:]+: (?=.*: )/, '')
  const candidates = [
    ...[...line.matchAll(/['"`‘“]([^'"`’”]+)['"`’”]/g)].map((match) => match[1] ?? ''),
    ...[...line.matchAll(/(?:^|[\s:=(])(\/[^\s:'"`)]+)/g)].map((match) => match[1] ?? ''),
    ...line
      .split(/: /)
      .slice(0, -1)
      .map((part) => part.replace(/^(?:cannot|can't) \w+ /, '')),
  ]
  const paths = candidates
    .filter((text) => text !== '' && text.length < 4096 && !text.includes('\0'))
    .map((text) => normalize(isAbsolute(text) ? text : join(cwd, text)))
  return [...new Set(paths)]
}

/** How programs say that they didn't get through, with the host in it. */
const unreachable: readonly RegExp[] = [
  /Could not resolve host(?:name)?:? '?([\w.-]+)/i,
  /(?:getaddrinfo|connect|getaddrinfo\(\)) (?:ENOTFOUND|EAI_AGAIN|EPERM|ENETUNREACH|ECONNREFUSED) ([\w.:-]+)/,
  /unable to access '\w+:\/\/(?:[^@/']*@)?([\w.-]+)/,
  /ssh: (?:Could not resolve hostname|connect to host) ([\w.-]+)/,
  /(?:Failed|failed) to (?:connect|resolve|fetch|lookup)[^:]*?(?:to|host|from)? ['"]?(?:\w+:\/\/)?([\w-]+(?:\.[\w-]+)+)/,
  /dial tcp: lookup ([\w.-]+)/,
  /resolve '([\w.-]+)'/,
]

function hostDenials(policy: SandboxPolicy, line: string): readonly Denial[] {
  if (policy.network.mode === 'full' || policy.mode === 'danger-full-access') return []
  const host = unreachable.map((pattern) => pattern.exec(line)?.[1]).find((match) => match !== undefined)
  if (host === undefined) return []
  if (policy.network.mode === 'allowlist') return judgeUnreachable(policy.network.allow, host)
  return [
    {
      kind: 'host',
      subject: host,
      rule: 'network: off',
      certainty: 'proven',
      howToAllow: 'set the network to full; nothing needs installing that is there already',
    },
  ]
}
