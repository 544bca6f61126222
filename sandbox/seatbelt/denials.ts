import { denialsFromOutput } from '../denials/from-output.ts'
import type { FileSystemView } from '../file-system-view.ts'
import type { SandboxPolicy } from '../sandbox-policy.ts'
import type { Denial } from '../sandbox.ts'
import { triedToNest } from './diagnose-seatbelt.ts'

const refusal = /Operation not permitted|\bEPERM\b/

/** The denial for a program that tries to create a sandbox for itself or for other programs, as Swift's build tools do. */
const nestedSandbox: Denial = {
  kind: 'syscall',
  subject: 'that puts a program into a sandbox of its own',
  rule: 'macOS does not nest sandboxes',
  certainty: 'suspected',
  remedy: {
    kind: 'otherwise',
    advice:
      'tell the program not to use its own sandbox, because this one replaces it: swift build --disable-sandbox (also swift test, run and package)',
  },
}

/**
 * Finds denials in a command's output. In backends that use mounts, the error shows whether a path is read-only or can't be read. Seatbelt, however,
 * reports every denial as EPERM. So the policy decides which of the two an EPERM line means.
 */
export function denialsFromSeatbelt(
  policy: SandboxPolicy,
  failed: { readonly stderr: string; readonly cwd: string; readonly code: number | null },
  host: FileSystemView,
): readonly Denial[] {
  if (triedToNest(failed.stderr)) return [nestedSandbox]
  const lines = failed.stderr.split('\n')
  const told = (words: string): readonly string[] =>
    lines.filter((line) => refusal.test(line)).map((line) => line.replace(refusal, words))
  const [writes, reads] = [told('Read-only file system'), told('Permission denied')].map((stderr) =>
    denialsFromOutput(policy, { ...failed, stderr: stderr.join('\n') }, host),
  )
  const found = [...(reads ?? []), ...(writes ?? []), ...denialsFromOutput(policy, failed, host)]
  // If any other denial was found, `syscall` denials are left out, because they are only guessed from the words of a message.
  const named = found.filter(({ kind }) => kind !== 'syscall')
  const bySubject = new Map(named.map((denial) => [`${denial.kind} ${denial.subject}`, denial]))
  return bySubject.size > 0 ? [...bySubject.values()] : found.slice(0, 1)
}
