const extensions: ReadonlySet<string> = new Set(
  `1 3 5 7 8 adoc astro bash bat bzl c cabal cc cfg cjs clj cmd conf config cpp cs csproj css csv cts dart edn ejs el elm env erb erl ex example exs feature fish fs fsproj gemspec
   go gql gradle graphql h hbs hcl hpp hrl hs htm html http ini ipynb j2 java jinja jl js json json5 jsonc jsonl jsx kt kts less lhs liquid lock lua m md mdx mjs mk
   ml mli mm mod mts nim nix odin opam patch php pl plist pm po pot prisma properties proto ps1 pug py pyi pyx r rb rake rda rmd rs rst s sass sbt scala scm scss sh sln slim snap
   sol sql sum sv svelte svg swift t tcl tex tf tfvars thrift toml ts tsv tsx txt v vb vhd vim vue wat webmanifest xaml xml yaml yml zig zon zsh`.split(
    /\s+/,
  ),
)

/** Common names of files without an extension. */
const bareNames: ReadonlySet<string> = new Set(
  `Brewfile Caddyfile Containerfile Dockerfile Gemfile Jenkinsfile Justfile Kconfig LICENSE Makefile Podfile Procfile Rakefile Vagrantfile Tiltfile justfile
   dune-project CODEOWNERS`.split(/\s+/),
)

/** Configuration files such as `.nvmrc`, `.gitignore` and `.env`, which tools read at the top of a repository. */
const settingsFile = /^\.(?:[a-z]+(?:rc|ignore|attributes|config|version|versions)|env|envrc)$/

/** Product names, and abbreviations, that look like file names. */
const products: ReadonlySet<string> = new Set(
  `node.js next.js vue.js nuxt.js three.js d3.js express.js ember.js react.js chart.js p5.js alpine.js moment.js asp.net e.g i.e`.split(
    ' ',
  ),
)

/** Whether a word names a file: a name that is common or has a known extension, a settings file, or a path with folders and any extension. */
export function isPath(word: string): boolean {
  if (word.length > 300 || word.includes('//') || !/^[\w@.+/-]+$/.test(word)) return false
  if (products.has(word.toLowerCase())) return false
  const last = word.slice(word.lastIndexOf('/') + 1)
  if (bareNames.has(last) || settingsFile.test(last)) return true
  const dot = last.lastIndexOf('.')
  if (dot < 0 || dot >= last.length - 1) return false
  const extension = last.slice(dot + 1).toLowerCase()
  // `v1.8` and `3.5` are versions. In contrast, `tool.1` names a file, a manual page.
  if (/^\d$/.test(extension) && /\d/.test(last.slice(0, dot))) return false
  const isNamed = /[a-z]/i.test(last.slice(0, dot) || 'a')
  // A path with folders, such as `ops/systemd/backup.service`, may have any extension, unless it begins with a host name.
  const isLong =
    /^(?:[\w@-]+\/[\w@+-]+|src|lib|tests?|spec|docs?|scripts|app|cmd|pkg|internal|include|config|bin|grammar|data|fixtures|examples|templates|ops|deploy|db)\//.test(
      word,
    ) && /^[a-z]{1,12}$/.test(extension)
  return isNamed && (isLong || extensions.has(extension))
}

/** A file that a text names, with the positions at which the name begins and ends. */
export type Named = { readonly path: string; readonly from: number; readonly to: number }

/**
 * The files and folders that a text names, in order. A name with a line number or an anchor (`a.ts:12`, `a.md#use`) refers to a place and is left
 * out, and so are URLs, wildcards, and paths below `/tmp` or a home directory (`~`).
 *
 * @param withFolders whether to include a folder without a parent, such as `migrations/`
 */
export function pathsIn(text: string, withFolders = false): readonly Named[] {
  return [...text.matchAll(/[\w@+/][\w@.+/-]*|\.[\w/][\w@.+/-]*/g)].flatMap(({ 0: word, index }) => {
    const path = word.endsWith('.') ? word.slice(0, -1) : word
    const to = index + path.length
    const isPlace = /^(?::\d|#\w)/.test(text.slice(to))
    const isElsewhere =
      /[~*]/.test(text[index - 1] ?? '') || path.startsWith('/tmp/') || text.slice(index - 3, index).endsWith('://')
    return (isPath(path) || isDirectory(path) || (withFolders && /^[\w.@-]{2,}\/$/.test(path))) &&
      !isPlace &&
      !isElsewhere
      ? [{ path, from: index, to }]
      : []
  })
}

/** All files that a sentence names, in order: paths, also between backticks, and documents named without an extension. */
export function filesNamedIn(sentence: string): readonly Named[] {
  return [...pathsIn(sentence.replaceAll('`', ' ')), ...documentsIn(sentence)].toSorted(
    (one, two) => one.from - two.from,
  )
}

/**
 * Finds documents that a text names without an extension: "changelog" and "readme". A repository usually has only one of each.
 *
 * @internal
 */
export function documentsIn(text: string): readonly Named[] {
  return [...text.matchAll(/(?<![\w./@-])(?:change ?log|readme)(?![\w/@-]|\.\w)/gi)].map(({ 0: path, index }) => ({
    path,
    from: index,
    to: index + path.length,
  }))
}

/** Whether a path belongs to a document that `documentsIn` found. A changelog may have a different name, or consist of many files in one folder. */
export function isDocument(path: string, document: string): boolean {
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase()
  return document.toLowerCase() === 'readme'
    ? name.startsWith('readme')
    : /change|history|news|release/.test(path.toLowerCase())
}

function isDirectory(path: string): boolean {
  return (
    path.endsWith('/') &&
    path.length > 2 &&
    !path.startsWith('//') &&
    !path.includes('//') &&
    /^[\w.@-]+(?:\/[\w.@-]+)+\/$/.test(path)
  )
}
