/** One setting: section, subsection and name joined as `git config --list` does; `line` is where it starts, from 0. */
type Setting = { readonly key: string; readonly value: string; readonly line: number }

/**
 * Reads a git config file (git-config(1), "Syntax"). Undefined for anything that isn't plainly one: what git
 * might read differently must not be judged harmless.
 */
export function parseGitConfig(text: string): readonly Setting[] | undefined {
  const settings: Setting[] = []
  let section: string | undefined
  const lines = text.split(/\r?\n/)
  for (const [line, raw] of lines.entries()) {
    const content = raw.trim()
    if (content === '' || content.startsWith('#') || content.startsWith(';')) continue
    const header = /^\[([A-Za-z0-9.-]+)(?:\s+"((?:[^"\\]|\\["\\])*)")?\]$/.exec(content)
    if (header?.[1] !== undefined) {
      const name = header[1].toLowerCase()
      section = header[2] === undefined ? name : `${name}.${header[2].replace(/\\(.)/g, '$1')}`
      continue
    }
    const setting = /^([A-Za-z][A-Za-z0-9-]*)\s*(?:=\s*(.*))?$/.exec(content)
    const value = setting?.[2] ?? ''
    // Quotes, escapes, comments after a value and continued lines are legal, but nothing harmless needs them.
    if (setting?.[1] === undefined || section === undefined || /["\\#;]/.test(value)) return undefined
    settings.push({ key: `${section}.${setting[1].toLowerCase()}`, value, line })
  }
  return settings
}

/** Settings that name no program, no hook and no other file: what `git init`, `clone`, `branch` and `commit` write. */
const harmless: readonly RegExp[] = [
  /^core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|ignorecase|precomposeunicode|symlinks|autocrlf|eol|safecrlf|quotepath|abbrev|sharedrepository|compression)$/,
  /^extensions\.(?:objectformat|refstorage|partialclone|compatobjectformat)$/,
  /^user\.(?:name|email)$/,
  /^init\.defaultbranch$/,
  /^branch\..*\.(?:remote|merge|rebase|description|pushremote)$/s,
  /^remote\..*\.(?:url|pushurl|fetch|push|tagopt|prune|mirror|promisor|partialclonefilter)$/s,
  /^submodule\..*\.(?:url|active|branch)$/s,
  /^(?:pull|rebase|merge|push|fetch|commit|tag|color|column|status|log|advice|gc|pack|index|feature|lfs)\.(?!.*(?:program|command|cmd|tool|driver|hook|template|pager|editor))[a-z]+$/,
]

/** Transports that only move objects; `ext::` and the like run programs. */
const plainAddress = /^(?:https?:\/\/|ssh:\/\/|git:\/\/|file:\/\/|\.{0,2}\/|[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:)[^\s]*$/

/** Whether git can be made to run nothing by this setting. */
function isHarmless({ key, value }: Setting): boolean {
  if (!harmless.some((pattern) => pattern.test(key))) return false
  return /\.(?:url|pushurl)$/.test(key) ? plainAddress.test(value) : true
}

/**
 * The text with every setting left out that could make git run something; undefined when there is none. For a text that
 * isn't plainly a config file: the empty text.
 */
export function sanitizeGitConfig(text: string): string | undefined {
  const settings = parseGitConfig(text)
  if (settings === undefined) return ''
  const bad = new Set(settings.filter((setting) => !isHarmless(setting)).map(({ line }) => line))
  if (bad.size === 0) return undefined
  return text
    .split('\n')
    .filter((_, line) => !bad.has(line))
    .join('\n')
}

/** The files that a config leads git to: hooks and further config. Relative ones count from where git would. */
export function pathsFromConfig(text: string): {
  readonly fromWorktree: readonly string[]
  readonly fromGit: readonly string[]
} {
  // A wider net than the strict reading: here it must find what a lenient reader would.
  const values = (name: RegExp): readonly string[] =>
    text.split('\n').flatMap((line) => {
      const value = name.exec(line)?.[1]?.trim().replace(/^"|"$/g, '')
      return value === undefined || value === '' ? [] : [value]
    })
  return { fromWorktree: values(/^\s*hooksPath\s*=\s*(.*)$/i), fromGit: values(/^\s*path\s*=\s*(.*)$/i) }
}
