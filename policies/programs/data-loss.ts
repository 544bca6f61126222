import type { Fact } from '../commands/facts.ts'
import type { ShellWord } from '../commands/shell-word.ts'

/**
 * Describes commands that destroy data. Each text in `when` lists words that occur in such a command in this order, with any words in between; `a|b`
 * means either word, and `a*` any word that begins with `a`. If a word of the command matches `unless`, nothing is lost.
 */
type Loss = { readonly when: readonly string[]; readonly unless?: string; readonly reason: string }

const containers: Loss = {
  when: ['system|volume prune', 'volume rm|remove', 'compose down -v|--volumes'],
  reason: 'it deletes volumes, or containers and images that are not in use',
}
const infrastructure: Loss = {
  when: ['destroy', 'apply -destroy|--destroy', 'state rm', 'stack rm', 'workspace delete'],
  reason: 'it destroys infrastructure, or the record of it',
}
const elsewhere = 'it deletes remote data'
const clouds: Loss = {
  when: ['delete', 'purge', 'apps|addons destroy', 'delete-*|terminate-*|purge-*'],
  reason: elsewhere,
}
const databases: Loss = {
  when: ['db:drop*|db:reset*|db:purge*', 'migrate|db reset|drop|fresh', 'migrate:fresh|migrate:reset', 'database drop'],
  reason: 'it empties or deletes a database',
}

/** For each program, its commands that destroy data, unless the program's own row in the program tables covers them. */
const losses: Readonly<Record<string, Loss>> = {
  docker: containers,
  podman: containers,
  'docker-compose': { ...containers, when: ['down -v|--volumes'] },
  terraform: infrastructure,
  tofu: infrastructure,
  terragrunt: infrastructure,
  pulumi: infrastructure,
  vagrant: infrastructure,
  cdk: infrastructure,
  aws: { when: ['s3 rb', 's3 rm --recursive', 's3 sync --delete', ...clouds.when], reason: elsewhere },
  gcloud: clouds,
  az: clouds,
  flyctl: clouds,
  fly: clouds,
  heroku: { when: ['apps:destroy|addons:destroy|pg:reset'], reason: elsewhere },
  gh: {
    when: ['repo|release|gist|cache|secret|variable delete', 'api -X|--method DELETE', 'api -XDELETE|--method=DELETE'],
    reason: elsewhere,
  },
  kubectl: {
    when: ['delete', 'replace --force'],
    unless: 'pod|pods|po|job|jobs',
    reason: 'it deletes resources in a cluster',
  },
  helm: { when: ['uninstall|delete|del|un'], reason: 'it deletes resources in a cluster' },
  npm: { when: ['unpublish'], reason: 'it removes a published package' },
  rails: databases,
  rake: databases,
  prisma: databases,
  supabase: databases,
  dotnet: databases,
  dropdb: { when: ['*'], reason: 'it deletes a database' },
}

/** The data loss that a command causes, for commands whose row in the program tables doesn't describe it fully. */
export function dataLossOf(program: string, args: readonly ShellWord[]): readonly Fact[] {
  const words = args.map(({ text }) => text)
  if (program === 'mv' && words.slice(0, -1).some((word) => /^(?:.*\/)?\.git\/?$/.test(word)))
    return [{ class: 'destructive', reason: 'it moves the .git directory, which contains the history', extent: 'wide' }]
  const loss = Object.hasOwn(losses, program) ? losses[program] : undefined
  if (loss === undefined || !loss.when.some((line) => follows(words, line.split(' ')))) return []
  const isSpared = loss.unless !== undefined && words.some((word) => isOneOf(word, loss.unless ?? ''))
  return isSpared ? [] : [{ class: 'destructive', reason: loss.reason, extent: 'remote' }]
}

function follows(words: readonly string[], entries: readonly string[]): boolean {
  let at = 0
  for (const word of words) if (at < entries.length && isOneOf(word, entries[at] ?? '')) at++
  return at === entries.length
}

function isOneOf(word: string, entry: string): boolean {
  return entry.split('|').some((one) => (one.endsWith('*') ? word.startsWith(one.slice(0, -1)) : word === one))
}
