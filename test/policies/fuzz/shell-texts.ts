import { readFileSync } from 'node:fs'
import { scanShell } from '../../../policies/commands/tokens/scan-shell.ts'
import type { Random } from './random.ts'
import { arming, characters, pieces, separators, wraps } from './shell-pieces.ts'

/** The maximum number of learned texts. Each further text replaces a random one. */
const mostLearned = 4_096
const longest = 200

/** Matches lines with commands that may never end, or may have effects that a fuzz test must not have. */
const unfit =
  /\b(?:rm|sudo|kill|reboot|dd|mkfs|git|curl|find|sleep|yes|select|tail|top|less|more|man|watch|python3?|make|npm|docker|while|until)\b/

/** The lines of two tables of test cases, safe and unsafe ones, without those that are too long or match `unfit`. */
const known = ['second-cases.jsonl', 'commands.jsonl'].flatMap((name) =>
  readFileSync(new URL(`../../../fixtures/policies/${name}`, import.meta.url), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => (JSON.parse(line) as { readonly command: string | readonly string[] }).command)
    .filter((command) => typeof command === 'string')
    .filter((command) => command.length <= longest && !unfit.test(command)),
)

/** Makes shell texts: pieces put together at random, and small changes to known lines and to texts that were allowed before. */
export class ShellTexts {
  readonly #learned: string[] = []
  readonly #shapes = new Set<string>()

  make(random: Random): string {
    const isNew = random.below(4) > 0
    let text = isNew ? random.some(pieces, 2, 12) : this.#seed(random)
    if (!isNew) for (let times = 1 + random.below(4); times > 0; times--) text = this.#change(text, random)
    return isArmed(text) ? text : insert(text, random.of(arming), random)
  }

  /** Stores an allowed text if it is the first of its shape, so that other texts are derived from it. */
  learn(text: string, random: Random): void {
    const scan = scanShell(text, 'bash')
    if (text.length > longest || !scan.ok) return
    const shape = scan.tokens.map(({ kind, text }) => text ?? kind).join(' ')
    if (this.#shapes.has(shape)) return
    this.#shapes.add(shape)
    if (this.#learned.length < mostLearned) this.#learned.push(text)
    else this.#learned[random.below(mostLearned)] = text
  }

  #seed(random: Random): string {
    return random.below(3) > 0 || this.#learned.length === 0 ? random.of(known) : random.of(this.#learned)
  }

  #change(text: string, random: Random): string {
    const at = random.below(text.length + 1)
    const to = Math.min(text.length, at + random.below(12))
    const [before, part, behind] = [text.slice(0, at), text.slice(at, to), text.slice(to)]
    switch (random.below(12)) {
      case 0:
      case 1:
        return before + random.of(pieces) + text.slice(at)
      case 2:
        return before + text.slice(at + 1 + random.below(3))
      case 3:
        return before + behind
      case 4:
        return before + part + part + behind
      case 5:
        return before + random.of(characters) + text.slice(at + random.below(2))
      case 6: {
        const other = this.#seed(random)
        return (before + other.slice(random.below(other.length + 1))).slice(0, longest)
      }
      case 7:
        return (text + random.of(separators) + this.#seed(random)).slice(0, longest)
      case 8: {
        const [open, close] = random.of(wraps)
        return open + text + close
      }
      case 9: {
        const [open, close] = random.of(wraps)
        return before + open + part + close + behind
      }
      case 10:
        return before + random.of(arming) + text.slice(at)
      default:
        return before + behind + part
    }
  }
}

function insert(text: string, piece: string, random: Random): string {
  const at = random.below(text.length + 1)
  return text.slice(0, at) + piece + text.slice(at)
}

/** Whether a command line could do harm, is more than a comment, and terminates on its own. Otherwise, it isn't worth running, and isn't counted. */
export function isArmed(text: string): boolean {
  return (
    /touch|>|\bq\b/.test(text) &&
    !/^[ \t]*#.*$/.test(text) &&
    !/\b(?:yes|select|tail|sleep)\b|\b(?:while|until)\b/.test(text)
  )
}
