import { describeAddress, renderDenial, type Sandbox } from '../../../sandbox/index.ts'
import { remedyAsConfig } from '../../core/remedies.ts'
import { fetchProgram, type FetchMessage, type FetchRequest } from './fetch-program.ts'

/** The outcome of one request. Reasons are written for the model. */
type Fetched =
  | { readonly kind: 'redirect'; readonly location: string }
  | {
      readonly kind: 'answer'
      readonly status: number
      /** The content type as the server sent it; empty if it sent none. */
      readonly type: string
      readonly body: Buffer
      /** Whether the page is longer than the part of it in `body`. */
      readonly more: boolean
    }
  /** The policy doesn't allow connecting to the host, or one of the host's addresses is not public. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'failed'; readonly reason: string }

/** The maximum size of one page's body after decompression, in bytes. The rest of a larger page is not read. */
const limit = 5 * 1024 * 1024

/**
 * Makes one request through a process in the sandbox, so that the policy applies as it does to a command. The sandbox's proxy enforces an allow-list;
 * if the whole network is open, the process connects only to public addresses. Redirects are never followed, and nothing that the server does makes
 * the promise reject.
 *
 * @param timeoutMs the time limit for the whole request
 * @throws SandboxError if the process can't be started
 */
export async function fetchPage(
  sandbox: Sandbox,
  url: URL,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<Fetched> {
  const child = sandbox.spawn({
    argv: [...sandbox.node, '--no-warnings', '-e', fetchProgram()],
    cwd: sandbox.policy.workspace,
    stdin: 'pipe',
    timeoutMs,
    signal,
    readOnly: true,
  })
  const { stdin, stdout, stderr, result } = child
  // The process may exit during a write. In that case, its result shows why.
  stdin?.on('error', () => undefined)
  const request: FetchRequest = { url: url.href, direct: sandbox.policy.network.mode === 'full', limit }
  stdin?.write(`${JSON.stringify(request)}\n`)
  let complaint = ''
  stderr.setEncoding('utf8').on('data', (text: string) => (complaint = `${complaint}${text}`.slice(-500)))
  let refused: string | undefined
  const judge = (addresses: readonly string[]): void => {
    refused = refusalOf(url, addresses)
    if (refused === undefined) stdin?.write('go\n')
    else child.kill()
  }
  let last: FetchMessage | undefined
  const chunks: Buffer[] = []
  stdout.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    while (last === undefined || last.kind === 'addresses') {
      const received = Buffer.concat(chunks)
      const end = received.indexOf(10)
      if (end === -1) return
      last = JSON.parse(received.toString('utf8', 0, end)) as FetchMessage
      chunks.splice(0, chunks.length, received.subarray(end + 1))
      if (last.kind === 'addresses') judge(last.addresses)
    }
  })
  const ended = await result
  const said = last as FetchMessage | undefined
  if (refused !== undefined) return { kind: 'refused', reason: refused }
  // The program that fetches is ours, so its report of a denied host can be trusted.
  const denial = ended.denials.find(({ kind }) => kind === 'host')
  if (denial !== undefined) return { kind: 'refused', reason: renderDenial(denial, remedyAsConfig) }
  if (ended.status === 'timed-out') return { kind: 'failed', reason: `${url.host} did not answer in time.` }
  if (ended.status === 'cancelled') return { kind: 'failed', reason: 'The call was cancelled.' }
  if (said?.kind === 'answer') return { ...said, body: Buffer.concat(chunks) }
  if (said?.kind === 'redirect') return said
  const why = said?.kind === 'failed' ? said.message : complaint.trim() || 'the process in the sandbox ended'
  return { kind: 'failed', reason: `${url.href} can't be fetched: ${why}` }
}

/** Returns why nothing may be fetched from a host. As in the sandbox's proxy, a host is refused if even one of its addresses is not public. */
function refusalOf(url: URL, addresses: readonly string[]): string | undefined {
  for (const address of addresses) {
    const meaning = describeAddress(address)
    if (meaning === undefined) continue
    const subject = url.hostname === address ? address : `${url.hostname}, which is ${address}`
    return `Pages can be fetched only from public addresses. Refused: ${subject} (${meaning}). For a server of your own, use exec_command.`
  }
  return undefined
}
