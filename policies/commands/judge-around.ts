import { changesCode, effectOfVariable } from '../programs/environment-variables.ts'
import { judgeFiles } from '../programs/judges.ts'
import type { Judgement } from '../programs/program-table.ts'
import { unknown, type Alarm, type Fact } from './facts.ts'
import type { Place } from './place.ts'
import type { SimpleCommand } from './simple-command.ts'

/** Files that are safe to write to. */
const sinks = new Set(['/dev/null', '/dev/stdout', '/dev/stderr', '/dev/tty'])

/** Judges what the shell itself does for a command: its assignments and redirections. */
export function judgeAround({ assignments, redirections, input, words }: SimpleCommand, place: Place): Judgement {
  const facts: Fact[] = []
  const alarms: Alarm[] = []
  if (input.from === 'text' && input.reveals !== undefined)
    facts.push(unknown(`${input.reveals} may hold a secret from the environment`))
  for (const { name, value } of assignments) {
    // An assignment to `IFS` in front of `read` is harmless: it affects only how this one call splits its line.
    if (name === 'IFS' && words[0]?.kind === 'static' && words[0].text === 'read') continue
    const effect = effectOfVariable(name, value?.kind === 'static' ? value.text : undefined, words.length > 0)
    if (effect === 'dangerous' || effect === 'unknown') facts.push(changesCode(name))
    if (words.length > 0 && value?.kind === 'dynamic' && value.from === 'environment')
      facts.push(unknown(`${name}= may pass on a secret from the environment`))
  }
  for (const { access, target } of redirections) {
    const socket = /^\/dev\/(?:tcp|udp)\/([^/]*)/.exec(target.text)
    if (socket !== null) facts.push({ class: 'network', hosts: [socket[1] ?? ''] })
    else if (access === 'write') {
      if (target.kind !== 'static' || !sinks.has(target.text)) facts.push({ class: 'writes', paths: [target.text] })
      if (place.isAll(target))
        facts.push({ class: 'destructive', reason: `it overwrites ${target.text}`, extent: 'wide' })
    } else {
      const judged = judgeFiles([target])
      facts.push(...judged.facts)
      alarms.push(...(judged.alarms ?? []))
    }
  }
  return { facts, alarms, reads: redirections.filter(({ access }) => access === 'read').map(({ target }) => target) }
}
