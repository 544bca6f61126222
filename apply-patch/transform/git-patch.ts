import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { diffBodies, gitMode, quoteName } from './unified-diff.ts'

/** The state of a path, for a patch in git's format; undefined if there is no file. */
export type GitSide =
  | { readonly type: 'file'; readonly bytes: Buffer; readonly mode: number }
  | { readonly type: 'symlink'; readonly target: string }
  | undefined

/**
 * A change of one path in the form that `git apply --binary` accepts and `git diff --binary --full-index` prints. Binary content is included completely, both
 * old and new, so that the patch can be reverted. If a link becomes a file or vice versa, the old entry is removed and the new one added. The result
 * is empty if both states are the same for git.
 *
 * @internal
 */
export function gitPatch(path: string, before: GitSide, after: GitSide): string {
  if (before === undefined && after === undefined) return ''
  if (before !== undefined && after !== undefined && before.type !== after.type) {
    return gitPatch(path, before, undefined) + gitPatch(path, undefined, after)
  }
  const [old, fresh] = [bytesOf(before), bytesOf(after)]
  const [oldMode, newMode] = [modeOf(before), modeOf(after)]
  const [a, b] = [quoteName(`a/${path}`), quoteName(`b/${path}`)]
  const isSame = old.equals(fresh) && before !== undefined && after !== undefined
  if (isSame && oldMode === newMode) return ''
  const head = [`diff --git ${a} ${b}`]
  if (before === undefined) head.push(`new file mode ${newMode}`)
  else if (after === undefined) head.push(`deleted file mode ${oldMode}`)
  else if (oldMode !== newMode) head.push(`old mode ${oldMode}`, `new mode ${newMode}`)
  if (isSame) return `${head.join('\n')}\n`
  const shared = before !== undefined && after !== undefined && oldMode === newMode ? ` ${newMode}` : ''
  head.push(`index ${idOf(before, old)}..${idOf(after, fresh)}${shared}`)
  const body = diffBodies(old, fresh)
  if (body === undefined) return `${head.join('\n')}\nGIT binary patch\n${literal(fresh)}\n${literal(old)}\n`
  if (body === '') return `${head.join('\n')}\n`
  const names = [`--- ${before === undefined ? '/dev/null' : a}`, `+++ ${after === undefined ? '/dev/null' : b}`]
  return `${[...head, ...names].join('\n')}\n${body}`
}

function bytesOf(side: GitSide): Buffer {
  if (side === undefined) return Buffer.alloc(0)
  return side.type === 'file' ? side.bytes : Buffer.from(side.target)
}

function modeOf(side: GitSide): string | undefined {
  return side === undefined ? undefined : gitMode(side.type === 'file' ? side.mode : undefined)
}

/** The name of the object that stores this content in git: a SHA-1 hash, or zeros if there is no file. */
function idOf(side: GitSide, bytes: Buffer): string {
  if (side === undefined) return '0'.repeat(40)
  return createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
}

const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz!#$%&()*+-;<=>?@^_`{|}~'

/**
 * Encodes bytes as git does in binary patches (base85.c, diff.c): compressed, and in base 85, with 52 bytes per line. Each line begins with a letter
 * that says how many bytes it contains.
 */
function literal(bytes: Buffer): string {
  const packed = deflateSync(bytes)
  const lines = [`literal ${bytes.length}`]
  for (let at = 0; at < packed.length; at += 52) {
    const part = packed.subarray(at, at + 52)
    const length = part.length <= 26 ? 64 + part.length : 96 + part.length - 26
    lines.push(String.fromCharCode(length) + base85(part))
  }
  return `${lines.join('\n')}\n`
}

function base85(bytes: Buffer): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 4) {
    let value = 0
    for (let index = 0; index < 4; index++) value = value * 256 + (bytes[at + index] ?? 0)
    let group = ''
    for (let index = 0; index < 5; index++) {
      group = (digits[value % 85] ?? '') + group
      value = Math.floor(value / 85)
    }
    text += group
  }
  return text
}
