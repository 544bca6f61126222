import { SandboxError, type Sandbox } from '../../sandbox/index.ts'
import { hardened } from '../core/sandboxed-git.ts'

/** Reads the bytes of a git object, with git in the sandbox; undefined if git can't read it. */
export async function readBlob(
  oid: string,
  { sandbox, cwd }: { readonly sandbox: Sandbox; readonly cwd: string },
): Promise<Buffer | undefined> {
  try {
    const child = sandbox.spawn({
      argv: ['git', ...hardened, 'cat-file', 'blob', oid],
      cwd,
      readOnly: true,
      env: { GIT_NO_LAZY_FETCH: '1', LC_ALL: 'C' },
    })
    const chunks: Buffer[] = []
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
    child.stderr.resume()
    const result = await child.result
    return result.status === 'exited' && result.code === 0 ? Buffer.concat(chunks) : undefined
  } catch (error) {
    if (error instanceof SandboxError) return undefined
    throw error
  }
}
