import { describe, expect, test } from 'vitest'
import { CommandVariables } from '../../../engine/hooks/command-variables.ts'
import { parsePolicy } from '../../../sandbox/index.ts'

function taken(text: string, environment: object = {}) {
  const { environment: policy } = parsePolicy({ mode: 'read-only', workspace: '/', environment })
  const variables = new CommandVariables(policy)
  const problems = variables.take(text, "'x' (settings.json:1:1)")
  return { values: variables.values, problems }
}

describe('variables that a hook sets for later commands', () => {
  test.each([
    ['export PROJECT_ENV=development', 'development'],
    ["export PROJECT_ENV='two words'", 'two words'],
    ['export PROJECT_ENV="a \\"quoted\\" word"', 'a "quoted" word'],
    ["export PROJECT_ENV='it'\\''s'", "it's"],
    ['export PROJECT_ENV=a\\ b', 'a b'],
    ['export PROJECT_ENV=', ''],
    ['declare -x PROJECT_ENV="as bash prints it"', 'as bash prints it'],
    ['# a comment\n\n  export PROJECT_ENV=1\nexport PROJECT_ENV=2', '2'],
  ])('%s is read as a shell would', (text, value) => {
    expect(taken(text)).toEqual({ values: { PROJECT_ENV: value }, problems: [] })
  })

  test.each([
    'export PROJECT_ENV=$HOME',
    'export PROJECT_ENV="$(touch ran)"',
    'export PROJECT_ENV=`touch ran`',
    'export PROJECT_ENV=a; touch ran',
    'export PROJECT_ENV=a && touch ran',
    'export PROJECT_ENV="open',
    'PROJECT_ENV=a',
    'source other.sh',
  ])('%s is left out, and named', (text) => {
    const { values, problems } = taken(text)
    expect(values).toEqual({})
    expect(problems.join()).toContain('Only lines like export NAME=value are supported')
  })

  test.each([
    ['PATH', '/tmp/bin:/bin'],
    ['LD_PRELOAD', '/tmp/x.so'],
    ['BASH_ENV', '/tmp/x'],
    ['NODE_OPTIONS', '--require /tmp/x'],
    ['PYTHONPATH', '/tmp'],
    ['GIT_SSH_COMMAND', 'x'],
    ['EDITOR', 'x'],
    ['HTTPS_PROXY', 'http://x'],
    ['npm_config_script_shell', 'x'],
  ])('%s decides what commands do, and is not taken', (name, value) => {
    const { values, problems } = taken(`export ${name}='${value}'`)
    expect(values).toEqual({})
    expect(problems).toEqual([
      `The hook 'x' (settings.json:1:1) set ${name}, but commands don't get it: it can change the programs that commands run, or the hosts that commands connect to.`,
    ])
  })

  test('variables that look like secrets are not used', () => {
    expect(taken('export API_KEY=abc\nexport DATABASE=postgres://me:word@host/db').values).toEqual({})
  })

  test('variables that the configuration sets or leaves out are not changed', () => {
    const text = 'export ONE=1\nexport TWO=2\nexport THREE=3'
    expect(taken(text, { set: { ONE: 'ours' } }).values).toEqual({ TWO: '2', THREE: '3' })
    expect(taken(text, { exclude: ['T*'] }).values).toEqual({ ONE: '1' })
    expect(taken(text, { includeOnly: ['*O*'] }).values).toEqual({ ONE: '1', TWO: '2' })
  })
})
