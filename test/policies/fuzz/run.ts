/**
 * `node test/policies/fuzz/run.ts [--seconds N] [--texts N] [--seed N] [--kinds shell,awk,sed,git]` generates random texts and runs the ones that
 * the policy allows without asking the user. They run in bash; shell texts also run in dash if the policy allows them for a plain POSIX shell. They run
 * in a small folder, in which they must change nothing. The program prints its seed and counts. If something has changed, it prints the texts and exits
 * with 1. Texts that obviously can't do harm are neither run nor counted. The tokenizer refuses most texts, and most of those are not analysed further. A
 * sample of them gets the full analysis anyway; a text of the sample that the analysis allows is run like the others.
 */
import process from 'node:process'
import { parseArgs } from 'node:util'
import { checkCommand } from '../../../policies/index.ts'
import { scanShell } from '../../../policies/commands/tokens/scan-shell.ts'
import { fuzzKinds } from './kinds.ts'
import { Random } from './random.ts'
import { Scratch, type Run } from './scratch.ts'

const { values } = parseArgs({
  options: {
    seconds: { type: 'string', default: '60' },
    texts: { type: 'string', default: 'Infinity' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 31) },
    kinds: { type: 'string', default: Object.keys(fuzzKinds).join(',') },
  },
})
const until = Date.now() + Number(values.seconds) * 1_000
const most = Number(values.texts)
const seed = Number(values.seed)
const random = new Random(seed)
const batch = 400
/** One of every `sample` texts of a kind is judged for all shells of the kind, even if the tokenizer refuses it. */
const sample = 256

const names = values.kinds.split(',')
const kinds = names.map((name) => {
  const kind = fuzzKinds[name]
  if (kind === undefined)
    throw new Error(`${name} is not a kind of text; the kinds are ${Object.keys(fuzzKinds).join(', ')}`)
  return { name, kind, texts: 0, judged: 0, allowed: 0, ran: 0, endless: 0, hits: [] as Run[] }
})
type One = (typeof kinds)[number]

const options = { approvalMode: 'untrusted', sandbox: 'workspace-write' } as const

function isAllowed(shell: string, text: string): boolean {
  return checkCommand([shell, '-c', text], options).decision === 'allow'
}

/**
 * The shells in which the text would run without anyone being asked. A text that is refused for bash is assumed to be refused for a plain shell too,
 * except in a sample of the shell texts: for these, dash is always tried.
 */
function shellsOf(one: One, text: string): readonly Run['shell'][] {
  const isSample = one.texts % sample === 0
  if (!isSample && !scanShell(text, 'bash').ok) return []
  one.judged++
  const isFine = isAllowed('bash', text)
  if (one.name !== 'shell') return isFine ? ['bash'] : []
  const others = (isFine || isSample) && isAllowed('dash', text) ? (['dash'] as const) : []
  return isFine ? ['bash', ...others] : others
}

/** Texts that wait until there are enough of them for a batch, by their kind and shell. */
const waiting = new Map<string, Run[]>()
// There are two folders, so that texts can be generated while others run.
const free = [new Scratch(), new Scratch()]
const scratches = [...free]
const running = new Set<Promise<void>>()
const tried = new Set<string>()

async function add(one: One, run: Run): Promise<void> {
  const name = `${one.name} ${run.shell}`
  const runs = waiting.get(name) ?? []
  waiting.set(name, runs)
  runs.push(run)
  if (runs.length >= batch) await flush(one, name)
}

async function flush(one: One, name: string): Promise<void> {
  const runs = waiting.get(name) ?? []
  waiting.delete(name)
  while (free.length === 0) await Promise.race(running)
  const scratch = free.pop()
  if (scratch === undefined) throw new Error('there is no folder to run in')
  const work = scratch.run(runs).then(({ hits, endless }) => {
    one.ran += runs.length
    one.endless += endless
    one.hits.push(...hits)
    free.push(scratch)
    running.delete(work)
  })
  running.add(work)
}

let texts = 0
for (let made = 0; texts < most && (made % 512 !== 0 || Date.now() < until); made++) {
  const one = kinds[made % kinds.length]
  if (one === undefined) break
  const text = one.kind.make(random)
  if (text.includes('\0') || !one.kind.isArmed(text)) continue
  texts++
  one.texts++
  const shells = shellsOf(one, text)
  if (shells.length === 0) continue
  one.allowed++
  one.kind.learn?.(text, random)
  if (tried.has(text)) continue
  tried.add(text)
  for (const shell of shells)
    for (const line of one.kind.runs(text, random)) await add(one, { shell, text: line, kind: one.name })
}
for (const one of kinds)
  for (const shell of ['bash', 'dash'])
    if (waiting.has(`${one.name} ${shell}`)) await flush(one, `${one.name} ${shell}`)
await Promise.all(running)
for (const scratch of scratches) scratch.remove()

for (const { name, texts, judged, allowed, ran, endless, hits } of kinds) {
  process.stdout.write(
    `${name}: ${texts} texts, ${judged} judged as a whole, ${allowed} allowed, ${ran} runs, ${endless} without an end, ${hits.length} that changed something\n`,
  )
  for (const { shell, text } of hits) process.stdout.write(`  ${JSON.stringify(`${shell}: ${text}`)}\n`)
}
process.stdout.write(`seed ${seed}\n`)
if (kinds.some(({ hits }) => hits.length > 0)) process.exitCode = 1
