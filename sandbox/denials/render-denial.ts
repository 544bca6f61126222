import type { Denial } from '../sandbox.ts'
import { describeRemedy, type Remedy } from './denial-remedy.ts'

const nouns: Readonly<Record<Denial['kind'], string>> = {
  path: 'access to',
  host: 'a connection to',
  syscall: 'the system call',
  limit: '',
  git: 'the change of git’s data',
}

/**
 * Describes a denial for a person or a model: what was denied, by which rule, and how to allow it.
 *
 * @param describe puts the remedy into words; by default in the policy's own terms
 * @example
 * const denial = accessDenial(parsePolicy({ mode: 'read-only', workspace: process.cwd() }), `${process.cwd()}/a.txt`, 'write')
 * if (denial !== undefined) console.error(renderDenial(denial))
 */
export function renderDenial(denial: Denial, describe: (remedy: Remedy) => string = describeRemedy): string {
  const what = [nouns[denial.kind], denial.subject].filter((part) => part !== '').join(' ')
  const verb = denial.certainty === 'proven' ? 'The sandbox refused' : 'The sandbox may have refused'
  return `${verb} ${what} (${denial.rule}). To allow it: ${describe(denial.remedy)}.`
}
