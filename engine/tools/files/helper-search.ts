import type { FileMatches, FileOperation } from './protocol.ts'

/** What an operation of the file helper returns. */
export type HelperAnswer = { readonly value: unknown; readonly payload?: Buffer }

export function findFiles({ path, glob, limit }: Extract<FileOperation, { op: 'find' }>): HelperAnswer {
  const fs = process.getBuiltinModule('node:fs')
  const { names, stopped } = filesBelow(path)
  const found = names.filter(matcherOf(glob))
  const timed = found.map((name) => {
    const stat = fs.statSync(`${path}/${name}`, { throwIfNoEntry: false })
    return { name, time: stat?.mtimeMs ?? 0 }
  })
  timed.sort((a, b) => b.time - a.time || (a.name < b.name ? -1 : 1))
  return { value: { paths: timed.slice(0, limit).map(({ name }) => name), total: timed.length, stopped } }
}

/**
 * Lists the files below a directory as sorted relative paths: in a repository, the files that git tracks or would add; elsewhere, all files except
 * those in `.git` and `node_modules`. Outside a repository, the search ends after a number of entries or some time; `stopped` then says after which. The files
 * nearest to the directory are found first.
 */
function filesBelow(path: string): { readonly names: readonly string[]; readonly stopped?: string | undefined } {
  const most = 100_000
  const patience = 20_000
  const fs = process.getBuiltinModule('node:fs')
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  if (!fs.statSync(path).isDirectory()) throw Object.assign(new Error('it is not a directory'), { code: 'ENOTDIR' })
  const options = { cwd: path, maxBuffer: 256 * 1024 * 1024, timeout: 50_000 }
  const listed = spawnSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], options)
  if (listed.status === 0) {
    const names = new Set(listed.stdout.toString('utf8').split('\0'))
    names.delete('')
    // Git also lists files that have been deleted, as long as their deletion is not staged.
    return { names: [...names].filter((name) => fs.existsSync(`${path}/${name}`)).toSorted() }
  }
  const until = performance.now() + patience
  const names: string[] = []
  let looked = 0
  let stopped: string | undefined
  const folders = ['']
  for (const below of folders) {
    if (performance.now() > until) stopped = `after ${patience / 1000} seconds`
    if (stopped !== undefined) break
    let opened
    try {
      opened = fs.opendirSync(`${path}/${below}`)
    } catch {
      // A directory that can't be read counts as empty.
      continue
    }
    for (let entry = opened.readSync(); entry !== null; entry = opened.readSync()) {
      if (++looked > most) {
        stopped = `after ${most} entries`
        break
      }
      const name = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules') folders.push(name)
      else if (entry.isFile()) names.push(name)
    }
    opened.closeSync()
  }
  return { names: names.toSorted(), stopped }
}

/** Returns a function that matches paths against a glob. A glob without a slash matches file names in any directory. */
function matcherOf(glob: string | undefined): (name: string) => boolean {
  if (glob === undefined) return () => true
  const { matchesGlob, basename } = process.getBuiltinModule('node:path')
  const pattern = glob.replace(/^\.?\//, '')
  return (name) => matchesGlob(pattern.includes('/') ? name : basename(name), pattern)
}

export function searchFiles(request: Extract<FileOperation, { op: 'search' }>): HelperAnswer {
  const fs = process.getBuiltinModule('node:fs')
  const { path, glob, pattern, required, ignoreCase, multiline, limit } = request
  let expression: RegExp
  try {
    expression = new RegExp(pattern, `g${ignoreCase ? 'i' : ''}${multiline ? 'ms' : 'm'}`)
  } catch (error) {
    throw Object.assign(new Error((error as Error).message), { code: 'EPATTERN' })
  }
  const isFile = !fs.statSync(path).isDirectory()
  const found = isFile ? undefined : filesBelow(path)
  const names =
    found === undefined
      ? [path]
      : filesHolding(required, ignoreCase, path, found.names.filter(matcherOf(glob))).map((name) => `${path}/${name}`)
  const files: FileMatches[] = []
  let total = 0
  const patience = 40_000
  const until = performance.now() + patience
  let stopped = found?.stopped
  for (const name of names) {
    if (performance.now() > until) {
      stopped = `after ${patience / 1000} seconds`
      break
    }
    const matches = searchFile(name, expression, request.context, Math.max(limit - total, 0))
    if (matches === undefined) continue
    total += matches.count
    if (matches.lines.length > 0) files.push(matches)
  }
  return { value: { files, total, stopped } }
}

/**
 * Selects, from the files below a directory, those that may contain a text. Their order is kept. If there are many files and ripgrep is installed,
 * ripgrep selects them; otherwise all files are returned. The caller searches the returned files anyway, so the search finds the same lines in both
 * cases.
 */
function filesHolding(
  text: string | undefined,
  ignoreCase: boolean,
  path: string,
  names: readonly string[],
): readonly string[] {
  const few = 100
  const mostAtOnce = 512 * 1024
  if (text === undefined || names.length < few) return names
  const { spawnSync } = process.getBuiltinModule('node:child_process')
  const options = ['--no-config', '--files-with-matches', '--null', '--no-messages', '--text', '--encoding', 'none']
  const how = [...options, '--fixed-strings', ignoreCase ? '--ignore-case' : '--case-sensitive', '--regexp', text, '--']
  const holding = new Set<string>()
  for (let start = 0; start < names.length;) {
    let end = start
    for (let size = 0; end < names.length && size < mostAtOnce; end++) size += Buffer.byteLength(names[end] ?? '') + 1
    const asked = names.slice(start, end).map((name) => `./${name}`)
    const found = spawnSync('rg', [...how, ...asked], { cwd: path, maxBuffer: 256 * 1024 * 1024, timeout: 50_000 })
    // Status 1 means that nothing was found. If the status is neither 0 nor 1, or ripgrep is missing, all files are returned.
    if (found.status !== 0 && found.status !== 1) return names
    for (const name of found.stdout.toString('utf8').split('\0')) holding.add(name.slice(2))
    start = end
  }
  return names.filter((name) => holding.has(name))
}

/** Searches one file. Returns undefined if nothing in it matches. Binary files and files above 32 MiB are skipped: they are not source text. */
function searchFile(path: string, expression: RegExp, context: number, remaining: number): FileMatches | undefined {
  const fs = process.getBuiltinModule('node:fs')
  let bytes
  try {
    const stat = fs.statSync(path)
    if (!stat.isFile() || stat.size > 32 * 1024 * 1024) return undefined
    bytes = fs.readFileSync(path)
  } catch {
    // The file has been removed since it was listed, or can't be read.
    return undefined
  }
  if (bytes.subarray(0, 8192).includes(0)) return undefined
  const text = bytes.toString('utf8')
  expression.lastIndex = 0
  if (!expression.test(text)) return undefined
  const starts = linesOf(text)
  const hit = new Set<number>()
  let line = 0
  expression.lastIndex = 0
  for (let match = expression.exec(text); match !== null; match = expression.exec(text)) {
    const last = match.index + Math.max(match[0].length - 1, 0)
    while (line + 1 < starts.length && (starts[line + 1] ?? 0) <= match.index) line++
    for (let at = line; at < starts.length && (starts[at] ?? 0) <= last; at++) hit.add(at)
    if (match[0] === '') expression.lastIndex++
  }
  const shown = new Set<number>()
  for (const at of [...hit].slice(0, remaining)) {
    for (let near = at - context; near <= at + context; near++) if (near >= 0 && near < starts.length) shown.add(near)
  }
  const lines = [...shown]
    .sort((a, b) => a - b)
    .map((at) => {
      const end = starts[at + 1] ?? text.length
      return { number: at + 1, text: text.slice(starts[at], end).replace(/\r?\n$/, ''), matches: hit.has(at) }
    })
  return { path, lines, count: hit.size }
}

/** The offsets at which the lines of a text begin. */
function linesOf(text: string): readonly number[] {
  const starts = [0]
  for (let at = text.indexOf('\n'); at !== -1 && at + 1 < text.length; at = text.indexOf('\n', at + 1))
    starts.push(at + 1)
  return starts
}

/** The functions with which the file helper finds and searches files. Its program contains their text. */
export const searching = [findFiles, filesBelow, matcherOf, searchFiles, searchFile, linesOf, filesHolding]
