import { pattern } from './word-patterns.ts'

const codeExtension = pattern(
  String.raw`\.(?:[cm]?[jt]sx?|py|rb|go|rs|java|kts?|swift|c|cc|cpp|h|hpp|cs|fs|php|p[lm]|exs?|erl|clj[cs]?|scala|hs|ml|lua|jl|dart|zig|nim|vue|svelte|sol|elm|m|mm|groovy)$`,
)
/** Matches paths of tests. */
export const testPath = pattern(
  String.raw`(?:^|/)(?:tests?|specs?|__tests__|e2e|t|testing)/|[._-](?:tests?|specs?)\.\w+$|(?:^|/)test_|Tests?\.\w+$|Spec\.\w+$|(?:^|/)conftest\.py$`,
)
/** Matches paths of lock files. */
export const lockFile = pattern(
  String.raw`(?:^|/)(?:package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|[\w-]+\.lock|bun\.lockb)$`,
)

const migrationPath = pattern(String.raw`(?:^|/)(?:migrations?|migrate|alembic)/`)
const outsidePath = pattern(String.raw`(?:^|/)(?:docs?|examples?|vendor|dist|build)/`)

/**
 * Determines the kind of a file from its path.
 *
 * @internal
 */
export function kindOf(path: string): 'code' | 'tests' | 'locks' | 'migrations' | 'other' {
  if (lockFile.test(path)) return 'locks'
  if (testPath.test(path)) return 'tests'
  if (migrationPath.test(path)) return 'migrations'
  return codeExtension.test(path) && !outsidePath.test(path) ? 'code' : 'other'
}

/** Names of files that many folders contain. Without a folder, such a name means the file in the top folder. */
const frequent = pattern(
  String.raw`^(?:index|main|mod|lib|__init__|package|readme|cargo|makefile|types|utils|tsconfig|setup)\b`,
  'i',
)

/**
 * Whether a name in a message refers to a changed file, or to a folder that contains it.
 *
 * @internal
 */
export function isMeant(named: string, changed: string): boolean {
  const path = named.replace(/^(?:\.?\/)+/, '')
  if (path.endsWith('/')) return `/${changed}`.includes(`/${path}`)
  if (changed === path) return true
  return (path.includes('/') || !frequent.test(path)) && changed.endsWith(`/${path}`)
}
