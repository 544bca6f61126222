import type { HumanChoice, HumanQuestion, ProposedRule } from '../../policies/index.ts'
import { counted } from '../core/text/counted.ts'
import { escapeInvisible } from '../core/text/escape-invisible.ts'

/** The file to which each kind of rule is added. */
export type RuleFiles = Readonly<Record<ProposedRule['kind'], string>>

/** A person's answer: the choice and, optionally, a message to the model. */
type PersonAnswer = { readonly choice: HumanChoice; readonly words?: string }

const explained: Readonly<Record<HumanChoice, string>> = {
  once: 'y  yes, this once',
  run: 'r  yes, and allow this exact action for the rest of the run',
  rule: 'c  yes, and allow whatever the rule below allows, for the rest of the run',
  always: 'a  always: add the rule below to',
  no: 'n  no; you can add a message to the model, e.g. "n use the lockfile"',
  stop: 's  no, and stop the run',
}

const explainedWithGrants: Readonly<Partial<Record<HumanChoice, string>>> = {
  run: 'r  yes, and grant this access to every command for the rest of the run',
  always: 'a  always: grant this access to every command of this run, and add the rule below to',
}

const shortest: Readonly<Record<HumanChoice, string>> = {
  once: 'y',
  run: 'r',
  rule: 'c',
  always: 'a',
  no: 'n',
  stop: 's',
}

/** The maximum number of lines of a diff to show. People rarely read more than a few screens. */
const mostDiffLines = 200

/**
 * Renders a question for a person: the action, the facts about it, the diff of a patch, and the possible answers. No part of the question can control the
 * terminal.
 *
 * @param ruleFiles the files to which the answer `always` adds a rule
 */
export function renderQuestion(question: HumanQuestion, ruleFiles: RuleFiles): string {
  const { what, why, rule, choices, request } = question
  const grants = request.action.type === 'exec' ? (request.action.escalation?.grants ?? []) : []
  const lines = [
    '',
    'The agent asks for approval:',
    '',
    ...indent(what.join('\n'), '    '),
    '',
    ...why.flatMap((reason) => indent(reason, '  ')),
    ...(request.diff === undefined ? [] : ['', ...cutLines(indent(request.diff.trimEnd(), '    '))]),
    '',
    ...choices.map(
      (choice) =>
        `  ${explain(choice, grants.length > 0)}${choice === 'always' && rule !== undefined ? ` ${ruleFiles[rule.kind]}` : ''}`,
    ),
    ...(rule === undefined ? [] : indent(rule.text, '       ')),
  ]
  return `${lines.join('\n')}\n${promptFor(choices)}`
}

/**
 * Describes a possible answer.
 *
 * @param grants whether the action needs additional access. If so, an answer that applies to the rest of the run gives that access to every command
 */
function explain(choice: HumanChoice, grants: boolean): string {
  return (grants ? explainedWithGrants[choice] : undefined) ?? explained[choice]
}

/** The prompt that lists the keys for the answers. */
export function promptFor(choices: readonly HumanChoice[]): string {
  return `[${choices.map((choice) => shortest[choice]).join('/')}] `
}

/** Parses a typed line as an answer; undefined if the line is not a valid answer. */
export function readAnswer(line: string, choices: readonly HumanChoice[]): PersonAnswer | undefined {
  const [word = '', ...rest] = line.trim().split(/\s+/)
  const typed = word.toLowerCase().replace(/[.,:;!]$/, '')
  const choice = choices.find((one) => typed === shortest[one] || typed === one || (one === 'once' && typed === 'yes'))
  if (choice === undefined) return undefined
  return rest.length === 0 ? { choice } : { choice, words: rest.join(' ') }
}

function indent(text: string, margin: string): readonly string[] {
  return text.split('\n').map((line) => `${margin}${escapeInvisible(line)}`)
}

function cutLines(lines: readonly string[]): readonly string[] {
  if (lines.length <= mostDiffLines) return lines
  return [...lines.slice(0, mostDiffLines), `    (${counted(lines.length - mostDiffLines, 'more line')})`]
}
