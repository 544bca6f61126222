import { counted } from './text/counted.ts'
import { oneLine } from './text/one-line.ts'

const mostNamed = 5

/** Names the newest commits of a run in one line. */
export function commitWords(commits: readonly { readonly commit: string; readonly subject: string }[] | null): string {
  if (commits === null) return 'unknown'
  if (commits.length === 0) return 'none'
  const named = commits.slice(0, mostNamed).map(({ commit, subject }) => `${commit.slice(0, 9)} ${oneLine(subject)}`)
  const more = commits.length - named.length
  return [...named, ...(more > 0 ? [`and ${counted(more, 'more commit', 'more commits')}`] : [])].join('; ')
}
