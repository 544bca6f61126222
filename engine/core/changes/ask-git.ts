import { SandboxError, type Sandbox } from '../../../sandbox/index.ts'
import { hardened } from '../sandboxed-git.ts'

const timeoutMs = 10_000
/** The default limit for git's output, in bytes. */
const usualLimitBytes = 8 * 1024 * 1024

type Asked = {
  readonly sandbox: Sandbox
  readonly workspace: string
  /** The limit for git's output, in bytes. Longer output is not used. Default: 8 MiB. */
  readonly outputLimitBytes?: number
}

/**
 * Returns which of the listed files git ignores according to its present ignore rules. Files are named by keys, as in `list-files.ts`.
 *
 * @returns undefined if git can't tell, for example because it is missing or there is no repository
 */
export async function ignoredOf(keys: readonly string[], asked: Asked): Promise<ReadonlySet<string> | undefined> {
  // The prefix ./ keeps git from reading a name as an option or a magic pathspec.
  const input = keys.map((key) => `./${key}\0`).join('')
  const answer = await ask(['check-ignore', '-z', '--stdin'], asked, Buffer.from(input, 'latin1'))
  // git exits with 1 if it ignores none of the files.
  if (answer === undefined || answer.code > 1) return undefined
  return new Set(namesIn(answer.output).map((name) => name.replace(/^\.\//, '')))
}

/**
 * Returns the values of git attributes (git-check-attr(1)) for the listed files. Files are named by keys, as in `list-files.ts`.
 *
 * @returns the values by file and attribute; undefined if git can't tell
 */
export async function attributesOf(
  keys: readonly string[],
  attributes: readonly string[],
  asked: Asked,
): Promise<ReadonlyMap<string, ReadonlyMap<string, string>> | undefined> {
  const input = Buffer.from(keys.map((key) => `./${key}\0`).join(''), 'latin1')
  const most = input.length * attributes.length + keys.length * 4096
  const answer = await ask(['check-attr', '-z', '--stdin', ...attributes], { outputLimitBytes: most, ...asked }, input)
  if (answer?.code !== 0) return undefined
  const found = new Map<string, Map<string, string>>()
  const fields = namesIn(answer.output)
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [name = '', attribute = '', value = ''] = fields.slice(at, at + 3)
    const key = name.replace(/^\.\//, '')
    const values = found.get(key) ?? new Map<string, string>()
    found.set(key, values.set(attribute, value))
  }
  return found
}

/** Returns the keys of the files that git tracks or would add; undefined if git can't tell. */
export async function listedByGit(asked: Asked): Promise<ReadonlySet<string> | undefined> {
  const answer = await ask(['ls-files', '-z', '--cached', '--others', '--exclude-standard'], asked)
  return answer?.code === 0 ? new Set(namesIn(answer.output)) : undefined
}

function namesIn(output: Buffer): readonly string[] {
  return output.toString('latin1').split('\0').slice(0, -1)
}

/** Runs git in the sandbox without write access. Returns undefined if git couldn't run, was stopped, or printed too much. */
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
    // git may exit before it has read all of its input.
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
