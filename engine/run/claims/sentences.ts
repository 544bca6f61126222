import { saysDone } from './verbs.ts'

/** A sentence of a final message, as words. */
export type Sentence = {
  /** The sentence as written, without the marks of its line. */
  readonly text: string
  /** The parts between commas, colons and conjunctions: a denial in one clause doesn't reach into the next. */
  readonly clauses: readonly (readonly string[])[]
  /** The text before each clause: `,`, `(`, `and`; empty for the first. */
  readonly openers: readonly string[]
  /** Words in lower case; paths and other code between backticks unchanged. */
  readonly words: readonly string[]
  /** It is an item of a list below a line that announces changes. */
  readonly listedAsChanged: boolean
  /** The words of the heading, or of the line with a colon, above it. */
  readonly heading: readonly string[]
}

/** The longest part of a message that is read: a longer one is a document, which reports its results at the beginning or the end. */
const longestMessage = 64 * 1024
const longestSentence = 600

const joining: ReadonlySet<string> = new Set(['and', 'but', 'so', 'although', 'though'])
const changeWords: ReadonlySet<string> = new Set([
  ...['changed', 'changes', 'modified', 'updated', 'edited', 'created', 'added', 'touched', 'files'],
])
const notYet: ReadonlySet<string> = new Set([
  ...['plan', 'should', 'suggest', 'suggested', 'suggestions', 'recommended', 'todo', 'next', 'would', 'could'],
  ...['review', 'findings', 'unchanged', 'consider', 'proposed', 'proposal', 'needed', 'required', 'not', 'to'],
  ...['read', 'looked', 'relevant', 'related', 'affected', 'examined'],
])

/** The sentences of a message. Code blocks and quotations make no claims and are left out. */
export function sentencesOf(message: string): readonly Sentence[] {
  const found: Sentence[] = []
  let inCode = false
  let listing = false
  let inTable = false
  let heading: readonly string[] = []
  for (const raw of firstAndLast(message).split('\n')) {
    const line = raw.trim()
    if (line.startsWith('```') || line.startsWith('~~~')) inCode = !inCode
    else if (!inCode && line !== '' && !line.startsWith('>') && !/^[|:\s-]+$/.test(line)) {
      // A row of a table is an item too.
      const isItem = /^(?:[-*+•|]|\d{1,3}[.)])\s/.test(line)
      const text = line.replace(/^(?:#{1,6}\s|[-*+•|]\s|\d{1,3}[.)]\s)/, '').replaceAll('**', '')
      for (const part of text.split(/(?<=[.!?;…])\s/))
        found.push({ ...sentenceOf(part), listedAsChanged: isItem && listing, heading })
      // The head of a table announces its rows, unless the line above it has.
      const isTable = line.startsWith('|')
      if (!isItem || (isTable && !inTable && !listing)) {
        listing = (isTable || isHeading(line)) && saysChanged(found.at(-1)?.words ?? [])
      }
      inTable = isTable
      if (!isItem && isHeading(line)) heading = found.at(-1)?.words ?? []
      else if (!isItem) heading = []
    }
  }
  return found
}

function firstAndLast(message: string): string {
  if (message.length <= longestMessage) return message
  return `${message.slice(0, longestMessage / 2)}\n${message.slice(-longestMessage / 2)}`
}

function sentenceOf(part: string): Omit<Sentence, 'listedAsChanged' | 'heading'> {
  const text = part.slice(0, longestSentence)
  const clauses: { readonly opener: string; readonly words: string[] }[] = [{ opener: '', words: [] }]
  for (const [token] of text.replaceAll('’', "'").matchAll(/`[^`]*`|[\p{L}\p{N}_./@'+-]+|[,:;()—–✅✓✔]/gu)) {
    if (/^[,:;()—–]$/.test(token) || joining.has(token.toLowerCase())) clauses.push({ opener: token, words: [] })
    else clauses.at(-1)?.words.push(...wordsOf(token))
  }
  const filled = clauses.filter(({ words }) => words.length > 0)
  const [parts, openers] = [filled.map(({ words }) => words), filled.map(({ opener }) => opener)]
  return { text, clauses: parts, openers, words: parts.flat() }
}

/** A command between backticks is several words, a path is one. */
function wordsOf(token: string): readonly string[] {
  if (token.startsWith('`')) return token.slice(1, -1).split(' ').filter(Boolean)
  const bare = token.replace(/[.']$/, '')
  return bare === '' ? [] : [isPath(bare) ? bare : bare.toLowerCase()]
}

function isHeading(line: string): boolean {
  return line.startsWith('#') || line.endsWith(':') || line.endsWith(':**')
}

function saysChanged(words: readonly string[]): boolean {
  if (words.some((word) => notYet.has(word))) return false
  return words.some((word) => changeWords.has(word)) || saysDone(words)
}

const extensions: ReadonlySet<string> = new Set(
  `astro bash bat bzl c cc cfg cjs clj conf cpp cs css csv cts dart ejs env erb ex example exs fs go gql gradle graphql h hbs hpp hs htm html ini ipynb
   java js json json5 jsonl jsx kt kts less lock lua m md mdx mjs mk ml mm mts nix patch php pl plist properties proto ps1 py pyi r rb rs rst sass
   scala scss sh sql svelte svg swift tex tf tfvars toml ts tsx txt vue xml yaml yml zig`.split(/\s+/),
)

/** Files that are named without an extension, as every repository has them. */
const bareNames: ReadonlySet<string> = new Set([
  ...[
    'Containerfile',
    'Dockerfile',
    'Gemfile',
    'Jenkinsfile',
    'Justfile',
    'Makefile',
    'Procfile',
    'Rakefile',
    'Vagrantfile',
  ],
])

/** `.nvmrc`, `.gitignore`, `.env`: what tools read from the top of a repository. */
const settingsFile = /^\.(?:[a-z]+(?:rc|ignore|attributes|config|version|versions)|env|envrc)$/

/** Names of products, written as a file would be. */
const products: ReadonlySet<string> = new Set(['node.js', 'next.js', 'vue.js', 'nuxt.js', 'three.js', 'd3.js'])

/** Whether a word names a file: by its known extension, or as a path with one. Without an extension, a word may be anything. */
export function isPath(word: string): boolean {
  if (word.length > 300 || word.includes('//') || !/^[\w@.+/-]+$/.test(word)) return false
  if (products.has(word.toLowerCase())) return false
  const last = word.slice(word.lastIndexOf('/') + 1)
  if (bareNames.has(last) || settingsFile.test(last)) return true
  const dot = last.lastIndexOf('.')
  return dot >= 0 && dot < last.length - 1 && extensions.has(last.slice(dot + 1).toLowerCase())
}
