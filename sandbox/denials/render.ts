import type { Denial } from '../sandbox.ts'

const nouns: Readonly<Record<Denial['kind'], string>> = {
  path: 'access to',
  host: 'a connection to',
  syscall: 'the system call',
  limit: '',
  quarantine: 'the new file',
}

/** A denial as one sentence for a person or a model: what was refused, by which rule, and how to allow it. */
export function renderDenial(denial: Denial): string {
  const what = [nouns[denial.kind], denial.subject].filter((part) => part !== '').join(' ')
  const verb = denial.certainty === 'proven' ? 'The sandbox refused' : 'The sandbox may have refused'
  return `${verb} ${what} (${denial.rule}). To allow it: ${denial.howToAllow}.`
}
