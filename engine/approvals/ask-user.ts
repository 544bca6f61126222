import * as z from 'zod'
import type { AskPerson, TerminalQuestion } from './ask-at-terminal.ts'
import { escapeInvisible } from '../core/text/escape-invisible.ts'
import { defineTool } from '../tools/define-tool.ts'
import type { Tool } from '../tools/tool.ts'

/** The name of the tool that asks the user. While a call to this tool is in progress, the display must not write to the terminal. */
export const askUserName = 'ask_user'

/** The tool `ask_user` for runs in which nobody can be asked: its calls fail at once. */
export const askUser: Tool = askUserAt(undefined)

/**
 * Creates the tool `ask_user`, which asks the person at the terminal.
 *
 * @param ask undefined if the agent can't ask anybody, for instance because it is a sub-agent
 */
export function askUserAt(ask: AskPerson | undefined): Tool {
  return defineTool({
    name: askUserName,
    claudeNames: ['AskUserQuestion'],
    description:
      'Asks the user a question and waits for the answer. Use it only for what you can neither find out nor decide yourself: what the user wants, ' +
      'not how to do it. Approvals are requested automatically, without this tool.',
    headless: false,
    searchHint: 'question clarify choose person human input askuserquestion',
    readOnly: () => true,
    input: z.object({
      question: z.string().trim().min(1).max(2000),
      choices: z
        .array(z.string().trim().min(1).max(200))
        .min(2)
        .max(9)
        .optional()
        .describe(
          'Answers to choose from; the user may still give another. If omitted, the user answers in their own words.',
        ),
    }),
    validate: ({ choices = [] }) =>
      choices.some((choice) => /[\r\n]/.test(choice))
        ? `${askUserName}: each choice must be a single line.`
        : undefined,
    run: async ({ question, choices = [] }, { signal }) => {
      if (ask === undefined) return { ok: false, output: `Nobody can be asked here. ${advice}` }
      const answer = await ask(questionOf(question, choices), signal)
      if (answer === undefined)
        return { ok: false, output: `The user can't answer any more: the input has ended. ${advice}` }
      return { ok: true, output: `The user answered: ${answer}` }
    },
  })
}

const advice = 'Decide for yourself, or stop and say what information is missing.'

/** Formats a question for the person at the terminal, and escapes everything that could control the terminal. */
function questionOf(question: string, choices: readonly string[]): TerminalQuestion<string> {
  const prompt = choices.length === 0 ? '> ' : `[1-${choices.length}, or your own words] `
  const lines = [
    '',
    'The agent asks:',
    '',
    ...question.split('\n').map((line) => `    ${escapeInvisible(line)}`),
    '',
    ...choices.map((choice, at) => `  ${at + 1}  ${escapeInvisible(choice)}`),
  ]
  return { text: `${lines.join('\n')}\n${prompt}`, prompt, read: (line) => readAnswer(line, choices) }
}

/** Returns the typed text, or the choice with the typed number. An empty line is not an answer. */
function readAnswer(line: string, choices: readonly string[]): string | undefined {
  const typed = line.trim()
  if (typed === '') return undefined
  if (!/^\d+$/.test(typed) || choices.length === 0) return typed
  // A number that matches no choice is assumed to be a typing error.
  return choices[Number(typed) - 1]
}
