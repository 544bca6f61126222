import { readFileSync } from 'node:fs'

const folder = new URL('../../fixtures/policies/', import.meta.url)
const lines = (name: string): readonly string[] => readFileSync(new URL(name, folder), 'utf8').trimEnd().split('\n')

/** Every command in the tables of test cases: everyday commands, those of a session, and deceptive ones. */
export function corpus(): readonly string[] {
  return [
    ...new Set([
      ...['commands.jsonl', 'second-cases.jsonl', 'starter-cases.jsonl']
        .flatMap(lines)
        .map((line) => (JSON.parse(line) as { readonly command: string }).command),
      ...lines('everyday.txt').flatMap((line) => (/^[rw] /.test(line) ? [line.slice(2)] : [])),
      ...lines('session.txt').filter((line) => line !== '' && !line.startsWith('#')),
    ]),
  ]
}
