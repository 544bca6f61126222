import { escapeInvisibleInLine } from '../../core/text/escape-invisible.ts'
import type { ChangeGroup, Tally } from './tally.ts'
import { counted } from '../../core/text/counted.ts'

const longest = 160

/** Describes the outcome of a replay. The text ends with a line feed. */
export function describeTally(tally: Tally): string {
  const { sessions, actions, unchanged, otherwiseDecided, groups } = tally
  const changed = actions - unchanged
  const becoming = groups.filter(({ to }) => to === 'allow').reduce((sum, { count }) => sum + count, 0)
  const others = otherwiseDecided === 0 ? '' : ` (${otherwiseDecided} of them for another reason)`
  return [
    `${counted(actions, 'action')} of ${counted(sessions, 'session')} judged again: ${unchanged} decided as before${others}, ${changed} differently`,
    ...groups.flatMap(describeGroup),
    ...(changed === 0 ? [] : ['', `${becoming} would now be allowed`]),
    '',
  ].join('\n')
}

function describeGroup({ from, to, cause, count, sessions, examples }: ChangeGroup): readonly string[] {
  const more = count - examples.length
  return [
    '',
    `${from} → ${to}  ${count} in ${counted(sessions, 'session')}  ${shown(cause)}`,
    ...examples.flatMap(({ action, session, record, before, after }) => [
      `  ${shown(action)}`,
      `    session ${session}, record ${record}`,
      `    then ${before.decision} by ${shown(before.decidedBy)}: ${shown(before.reason)}`,
      `    now ${after.decision} by ${shown(after.decidedBy)}: ${shown(after.reason)}`,
    ]),
    ...(more > 0 ? [`  … and ${more} more`] : []),
  ]
}

/** Escapes and shortens a text from a model, so that it can't control the terminal or fill it. */
function shown(text: string): string {
  const line = escapeInvisibleInLine(text.replaceAll(/\s+/g, ' '))
  return line.length <= longest ? line : `${line.slice(0, longest)}…`
}
