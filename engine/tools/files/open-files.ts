import { accessDenial, renderDenial, SandboxError, type Sandbox, type SandboxProcess } from '../../../sandbox/index.ts'
import { remedyAsConfig } from '../../core/remedies.ts'
import type { KeptOutputs } from '../../core/kept-outputs.ts'
import { helperProgram } from './helper-program.ts'
import { requiredText } from './required-text.ts'
import type {
  FileAnswer,
  FileErrorCode,
  FileOperation,
  FindValue,
  ListValue,
  ReadValue,
  SearchValue,
} from './protocol.ts'
import { shareInstanceof } from '../../core/share-instanceof.ts'

/**
 * The error that is thrown when a file can't be read. Its message is written for the model.
 *
 * @example
 * const readNotes = defineTool({
 *   name: 'read_notes',
 *   description: 'Reads the notes.',
 *   input: z.object({}),
 *   run: async (_, { workspace, state, signal }) => {
 *     try {
 *       const { bytes } = await state.files.read(`${workspace}/NOTES.md`, 100_000, signal)
 *       return { ok: true, output: bytes.toString() }
 *     } catch (error) {
 *       if (error instanceof FileError) return { ok: false, output: error.message }
 *       throw error
 *     }
 *   },
 * })
 */
export class FileError extends Error {
  override readonly name = 'FileError'
  readonly code: FileErrorCode

  constructor(code: FileErrorCode, message: string) {
    super(message)
    this.code = code
  }
}

shareInstanceof('FileError', FileError)

/**
 * Access to files as a command in the sandbox sees them. If a method fails, it rejects with `FileError`, or with the abort reason if the signal was
 * already aborted. Paths are absolute.
 */
export type Files = {
  /** Reads the first `limit` bytes of a file, and its size. */
  read(path: string, limit: number, signal: AbortSignal): Promise<{ readonly bytes: Buffer; readonly size: number }>
  list(path: string, limit: number, signal: AbortSignal): Promise<ListValue>
  find(query: Query<'find'>, signal: AbortSignal): Promise<FindValue>
  search(query: Omit<Query<'search'>, 'required'>, signal: AbortSignal): Promise<SearchValue>
  /** Stops the helper process. */
  close(): void
}

type Query<Op extends FileOperation['op']> = Omit<Extract<FileOperation, { op: Op }>, 'op'>

/** How many milliseconds to wait for the helper's answer. After that, the helper is considered stuck. */
const answerTimeoutMs = 60_000

/** The time limit of the helper process: none, because the process ends with the run. */
const lifetimeMs = Infinity

/**
 * Reads files through a helper process in the sandbox. The helper starts on first use, ends with the run, and can't write. A path that the
 * policy hides is refused without a request to the helper.
 *
 * @param kept stored outputs of the run, which can be read here although no command can read them
 */
export function openFiles(sandbox: Sandbox, kept: KeptOutputs): Files {
  let helper: Helper | undefined
  const ask = async (operation: FileOperation, signal: AbortSignal): Promise<Reply> => {
    const denial = accessDenial(sandbox.policy, operation.path, 'read')
    if (denial !== undefined) throw new FileError('refused', renderDenial(denial, remedyAsConfig))
    signal.throwIfAborted()
    if (helper === undefined || helper.ended) helper = startHelper(sandbox)
    return helper.ask(operation, signal)
  }
  return {
    read: async (path, limit, signal) => {
      const output = kept.read(path)
      if (output !== undefined) return { bytes: output.subarray(0, limit), size: output.length }
      const { value, payload } = await ask({ op: 'read', path, limit }, signal)
      return { bytes: payload, size: (value as ReadValue).size }
    },
    list: async (path, limit, signal) => (await ask({ op: 'list', path, limit }, signal)).value as ListValue,
    find: async (query, signal) => (await ask({ op: 'find', ...query }, signal)).value as FindValue,
    search: async (query, signal) => {
      const required = requiredText(query.pattern, query.ignoreCase)
      return (await ask({ op: 'search', ...query, required }, signal)).value as SearchValue
    },
    close: () => helper?.end(),
  }
}

type Reply = { readonly value: unknown; readonly payload: Buffer }

/** @throws FileError if the sandbox can't start the helper */
function startHelper(sandbox: Sandbox): Helper {
  try {
    return new Helper(sandbox)
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error
    throw new FileError('failed', `The file helper can't be started in the sandbox: ${error.message}`)
  }
}

/** The helper process and the requests it has not answered yet. */
class Helper {
  readonly #child: SandboxProcess
  readonly #open = new Map<number, PromiseWithResolvers<Reply> & { readonly path: string }>()
  #pieces: Buffer[] = []
  #length = 0
  /** The total size of the answer that is being received, including its header. */
  #awaited = 0
  #next = 0
  ended = false

  constructor(sandbox: Sandbox) {
    this.#child = sandbox.spawn({
      argv: [...sandbox.node, '--no-warnings', '-e', helperProgram()],
      cwd: sandbox.policy.workspace,
      stdin: 'pipe',
      timeoutMs: lifetimeMs,
      outputBytes: Infinity,
      readOnly: true,
    })
    const { stdin, stdout, stderr, result } = this.#child
    // The helper may exit during a write. Its open requests are rejected below.
    stdin?.on('error', () => undefined)
    let complaint = ''
    stderr.setEncoding('utf8').on('data', (text: string) => (complaint = `${complaint}${text}`.slice(-500)))
    stdout.on('data', (chunk: Buffer) => this.#receive(chunk))
    const lost = (): void => {
      this.ended = true
      const hint = 'Read files with exec_command instead.'
      const reason = complaint.trim() === '' ? 'it ended' : complaint.trim()
      for (const { reject } of this.#open.values()) {
        reject(new FileError('failed', `The file helper can't run in the sandbox: ${reason}. ${hint}`))
      }
      this.#open.clear()
    }
    result.then(lost, lost)
  }

  async ask(operation: FileOperation, signal: AbortSignal): Promise<Reply> {
    const id = this.#next++
    const waiting = { ...Promise.withResolvers<Reply>(), path: operation.path }
    this.#open.set(id, waiting)
    const give = (code: FileErrorCode, message: string): void => waiting.reject(new FileError(code, message))
    const abort = (): void => give('failed', 'The call was cancelled.')
    const timer = setTimeout(() => {
      give('failed', `The file helper did not answer within ${answerTimeoutMs / 1000} seconds. Narrow the request.`)
      this.end()
    }, answerTimeoutMs)
    signal.addEventListener('abort', abort, { once: true })
    this.#child.stdin?.write(`${JSON.stringify({ id, ...operation })}\n`)
    try {
      return await waiting.promise
    } finally {
      this.#open.delete(id)
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
    }
  }

  end(): void {
    this.ended = true
    this.#child.kill()
  }

  #receive(chunk: Buffer): void {
    this.#pieces.push(chunk)
    this.#length += chunk.length
    // The chunks are joined only when an answer is complete. Joining them whenever a chunk arrives would copy a large file a thousand times.
    if (this.#length < this.#awaited) return
    let received = Buffer.concat(this.#pieces)
    this.#awaited = 0
    for (;;) {
      const end = received.indexOf(10)
      if (end === -1) break
      const header = JSON.parse(received.toString('utf8', 0, end)) as FileAnswer
      const rest = end + 1 + header.bytes
      if (received.length < rest) {
        this.#awaited = rest
        break
      }
      const payload = received.subarray(end + 1, rest)
      received = received.subarray(rest)
      this.#answer(header, payload)
    }
    this.#pieces = [received]
    this.#length = received.length
  }

  #answer(header: FileAnswer, payload: Buffer): void {
    const waiting = this.#open.get(header.id)
    if (header.ok) waiting?.resolve({ value: header.value, payload })
    else waiting?.reject(new FileError(header.code, describe(header.code, header.message, waiting.path)))
  }
}

function describe(code: FileErrorCode, message: string, path: string): string {
  switch (code) {
    case 'absent':
      return `${path} doesn't exist.`
    case 'directory':
      return `${path} is a directory.`
    case 'not-a-directory':
      return `${path} is not a directory, or one of its parents is a file.`
    case 'not-a-file':
      return `${path} is not a regular file.`
    case 'refused':
      return `${path} can't be read: permission denied.`
    case 'pattern':
      return `The pattern is not a valid regular expression: ${message}.`
    case 'failed':
      return `${path}: ${message}`
    default:
      return code satisfies never
  }
}
