import { SandboxError, type Sandbox } from '../../../sandbox/index.ts'
import { hardened } from '../sandboxed-git.ts'

const timeoutMs = 10_000
/** Longer lists are useless where a person reads them: nobody reads so many files. */
const usualLimitBytes = 8 * 1024 * 1024

type Asked = {
  readonly sandbox: Sandbox
  readonly workspace: string
  /** Longer answers count as none. Default: 8 MiB. */
  readonly outputLimitBytes?: number
}

/**
 * The files of a list that git ignores by the current rules. Paths are keys of `list-files.ts`.
 *
 * @returns undefined where git can't tell: it is missing, or there is no repository
 */
export async function ignoredOf(keys: readonly string[], asked: Asked): Promise<ReadonlySet<string> | undefined> {
  // The prefix ./ keeps a name from being an option or a magic pathspec of git.
  const input = keys.map((key) => `./${key}\0`).join('')
  const answer = await ask(['check-ignore', '-z', '--stdin'], asked, Buffer.from(input, 'latin1'))
  // It exits with 1 where it ignores none.
  if (answer === undefined || answer.code > 1) return undefined
  return new Set(namesIn(answer.output).map((name) => name.replace(/^\.\//, '')))
}

/** The files that git knows or would take; undefined where it can't say. */
export async function listedByGit(asked: Asked): Promise<ReadonlySet<string> | undefined> {
  const answer = await ask(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], asked)
  return answer?.code === 0 ? new Set(namesIn(answer.output)) : undefined
}

function namesIn(output: Buffer): readonly string[] {
  return output.toString('latin1').split('\0').slice(0, -1)
}

/** Runs git in the sandbox, where it can write nothing; undefined where it failed, was stopped, or printed too much. */
async function ask(
  words: readonly string[],
  { sandbox, workspace, outputLimitBytes = usualLimitBytes }: Asked,
  input?: Buffer,
): Promise<{ readonly code: number; readonly output: Buffer } | undefined> {
  try {
    const child = sandbox.spawn({
      argv: ['git', ...hardened, ...words],
      cwd: workspace,
      readOnly: true,
      timeoutMs,
      stdin: 'pipe',
      env: { GIT_NO_LAZY_FETCH: '1', GIT_TERMINAL_PROMPT: '0', LC_ALL: 'C' },
    })
    const chunks: Buffer[] = []
    let length = 0
    child.stdout.on('data', (chunk: Buffer) => {
      length += chunk.length
      if (length <= outputLimitBytes) chunks.push(chunk)
    })
    child.stderr.resume()
    // It may end before it has read all.
    child.stdin?.on('error', () => undefined)
    child.stdin?.end(input)
    const result = await child.result
    if (result.status !== 'exited' || length > outputLimitBytes) return undefined
    return { code: result.code, output: Buffer.concat(chunks) }
  } catch (error) {
    if (error instanceof SandboxError) return undefined
    throw error
  }
}
