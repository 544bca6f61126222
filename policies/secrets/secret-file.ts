import { findSensitive } from '../commands/sensitive-paths.ts'
import { secretShapes } from './shapes.ts'
import { givenSecrets } from './given-secrets.ts'
import { hasShape } from './redact.ts'
import { isAboutSecret } from './secret-names.ts'

const list = (text: string): ReadonlySet<string> => new Set(text.trim().split(/\s+/))

/** Extensions of source code, documentation, media and the output of compilers. Only the content of such a file can show that it holds a secret. */
const otherFiles = list(`
  js mjs cjs jsx ts mts cts tsx py pyc pyi go rs rb java class kt kts c cc cpp cs h hh hpp swift m php scala ex exs erl hs ml lua pl r
  sh bash zsh fish ps1 vue svelte htm html css scss less md mdx rst adoc tex proto graphql sql snap tf hcl ipynb map lock log
  png jpg jpeg gif svg ico webp woff woff2 ttf eot pdf mp3 mp4 so o a d dll dylib exe wasm node pub crt cer csr diff patch
  gpg asc sig sum sha1 sha256 sha512
`)

/** Package managers' settings, which commands need. At the top of a tree, they see them without the secrets in them. */
const settings = /^(?:\.npmrc|\.yarnrc|\.yarnrc\.yml|pip\.conf|\.?bunfig\.toml|nuget\.config|poetry\.toml|\.pypirc)$/

const examples = /example|sample|template|schema|[._-]dist$|[._-]defaults?$/

/** Directories into which package managers install what others publish. Its names say little, and its files are needed. */
const installed = /(?:^|\/)(?:node_modules|site-packages|dist-packages|vendor|bower_components|Pods|\.git)\//

/**
 * Whether the name of a file that git doesn't track says that it holds a secret. `path`: relative to the tree.
 *
 * @param atHome names, in lower case, of files at the top of a home directory in which programs keep secrets
 * @internal
 */
export function namesSecret(path: string, atHome: ReadonlySet<string> = new Set()): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (settings.test(name) || examples.test(name) || installed.test(path)) return false
  if (atHome.has(name)) return true
  return findSensitive(path) !== undefined || (!isOtherFile(name) && isAboutSecret(path.slice(-name.length)))
}

/**
 * Whether the content of a file that git doesn't track has the shape of a secret: a key or token of a known form, or, in a file that isn't source code, a
 * setting that is named like a secret and has a value. `path`: relative to the tree.
 *
 * @internal
 */
export function holdsSecret(path: string, text: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  if (examples.test(name) || settings.test(path.toLowerCase())) return false
  const isOther = isOtherFile(name)
  const isScript = /\.(?:sh|bash|zsh|fish)$/.test(name)
  if (hasShape(text, knownForms) || hasAddress(text) || hasSetting(text, isOther, isScript)) return true
  return !isOther && (isOnlySecret(text) || hasLine(text))
}

/** Forms that no other text has. The looser ones are for output of commands, in which a wrong match costs less. */
const knownForms = secretShapes.filter(
  (shape) => !givenSecrets.includes(shape) && !/^(?:OpenAI|Twilio|crates|Telegram)/.test(shape.what),
)

/**
 * Whether a text is nothing but a secret: a single long word with a digit, the words of a wallet, the bytes of its key, or users with hashes of their passwords.
 */
function isOnlySecret(text: string): boolean {
  if (/\$(?:apr1|2[aby]|5|6|y|argon2id?)\$[\w./=,]/.test(text)) return true
  const numbers = /^[\d\s,[\]]{64,512}$/.test(text) ? text.split(',').map((each) => each.replace(/[[\]\s]/g, '')) : []
  if ((numbers.length === 32 || numbers.length === 64) && numbers.every((each) => Number(each) < 256)) return true
  const words = text.trim().split(/\s+/)
  const [first = ''] = words
  if (words.length === 1)
    return (
      first.length >= 20 &&
      first.length <= 1024 &&
      /^[\w+/=.:-]+$/.test(first) &&
      /\d/.test(first) &&
      /[a-z]/i.test(first)
    )
  return words.length >= 12 && words.length <= 24 && words.every((word) => /^[a-z]{3,8}$/.test(word))
}

/** Whether a text contains a URL with a password. */
function hasAddress(text: string): boolean {
  for (let at = text.indexOf('://'); at !== -1; at = text.indexOf('://', at + 3)) {
    const ahead = text.slice(at + 3, at + 259)
    const login = ahead.slice(0, Math.max(0, ahead.search(/[\s/"'`<>{}$*]|@/)))
    const colon = login.indexOf(':')
    if (colon > 0 && login.length - colon > 3 && ahead[login.length] === '@') return true
  }
  return false
}

/** Whether a text contains a setting that is named like a secret and has a value. */
function hasSetting(text: string, isCode: boolean, isScript: boolean): boolean {
  for (const { index } of text.matchAll(/[:=>]/g)) {
    const key = wordBefore(text, index)
    if (key.length < 2 || !isAboutSecret(key)) continue
    const ahead = text.slice(index + 1, index + 300).replace(/^[>=]?[ \t]*(?:(?:bearer|basic) )?/i, '')
    // In a script, a variable of the environment is set like a setting.
    const isSource = isCode && !(isScript && text[index] === '=' && /^[A-Z][A-Z\d_]+$/.test(key))
    const isQuoted = /^["']/.test(ahead)
    const rest = isQuoted ? ahead.slice(1) : ahead
    const end = rest.search(/[\s"'`<>,;{}()[\]]/)
    const value = end === -1 ? rest : rest.slice(0, end)
    // A text with blanks is for people.
    const isText = isQuoted && /^[ \t]/.test(rest.slice(value.length))
    if ((isQuoted || !isSource) && !isText && isValue(value, isSource)) return true
  }
  return false
}

/** Whether a line names a secret and then, after blanks, has a value with a digit, as in the settings of many servers and in netrc(5). */
function hasLine(text: string): boolean {
  return text.split('\n').some((line) => {
    const words = line.trim().split(/[ \t]+/, 9)
    const isPaired = words.length % 2 === 0
    return words.some((word, at) => {
      const value = (words[at + 1] ?? '').replace(/^["']|["']$/g, '')
      const isSecret = /^\w{0,40}(?:pass(?:word|wd|phrase)?|secret|token|psk)$/i.test(word)
      return isPaired && isSecret && /\d/.test(value) && isValue(value, false)
    })
  })
}

/** The name before a separator, which may be quoted, or that of the element which a separator ends. */
function wordBefore(text: string, at: number): string {
  const before = text.slice(Math.max(0, at - 70), at).trimEnd()
  if (text[at] === '>' && before.includes('<')) return /^\w*/.exec(before.slice(before.lastIndexOf('<') + 1))?.[0] ?? ''
  let end = before.length
  if (/^["']$/.test(before[end - 1] ?? '')) end -= 1
  let start = end
  while (start > 0 && /^[\w.$-]$/.test(before[start - 1] ?? '')) start -= 1
  return before.slice(start, end)
}

/** What begins a reference to a value that is elsewhere, and what stands for no value. */
const references = ['$', '%', '@', '*', '.', '/', '#', 'process.', 'os.', 'env.', 'env:', 'http:', 'https:', 'xxx']
const nothing = list(
  'true false null none nil undefined string number boolean object array required optional bearer basic',
)
const placeholder = /change_?me|placeholder|your[-_]|redacted|example|secrets\.|vars\.|not-?set/

/** Whether a text can be a secret's value, rather than a placeholder, a reference to one, or a word of a user interface. */
function isValue(value: string, isCode: boolean): boolean {
  const lower = value.toLowerCase()
  if (value.length < 4 || references.some((start) => lower.startsWith(start)) || nothing.has(lower)) return false
  if (placeholder.test(lower)) return false
  const hasDigit = /\d/.test(value)
  if (isCode) return hasDigit && value.length >= 12 && /[a-z]/.test(lower)
  if (hasDigit) return value.length >= 6 || /[^\d.]/.test(value)
  // A short or capitalized word, or several words with hyphens, is the name of something.
  return value.length > 6 && !/^[A-Z][a-z]+$/.test(value) && !/^[a-z]+[-_.][a-z_.-]+$/.test(value)
}

function isOtherFile(name: string): boolean {
  return name.includes('.') && otherFiles.has(name.slice(name.lastIndexOf('.') + 1))
}
