import { describe, expect, test } from 'vitest'
import { patchInCommand } from '../../../engine/tools/patch-in-command.ts'

const patch = '*** Begin Patch\n*** Add File: a\n+$HOME `x`\n*** End Patch'

describe('is treated as a patch', () => {
  test.each([
    ['a quoted heredoc', `apply_patch <<'EOF'\n${patch}\nEOF\n`],
    ['a plain heredoc', `apply_patch <<EOF\n${patch}\nEOF`],
    ['another word', `apply_patch << "PATCH"\n${patch}\nPATCH\n`],
    ['a dash heredoc', `apply_patch <<-'EOF'\n${patch}\n\tEOF\n`],
    ['the other spellings', `applypatch <<'EOF'\n${patch}\nEOF`],
    ['a quoted argument', `apply_patch '${patch}'`],
  ])('%s', (_, command) => {
    expect(patchInCommand(command)).toEqual({ text: `${patch}\n`, directory: undefined })
  })

  test('an argument vector', () => {
    expect(patchInCommand(['apply_patch', patch])).toEqual({ text: patch, directory: undefined })
  })

  test.each([
    ['cd sub && ', 'sub'],
    [`cd 'a b' && `, 'a b'],
    ['cd sub; ', 'sub'],
  ])('after %s', (prefix, directory) => {
    expect(patchInCommand(`${prefix}apply_patch <<'EOF'\n${patch}\nEOF`)).toEqual({ text: `${patch}\n`, directory })
  })
})

describe('is left to the shell', () => {
  test.each([
    ['a command after it', `apply_patch <<'EOF'\n${patch}\nEOF\nnpm test`],
    ['a command before it', `npm test && apply_patch <<'EOF'\n${patch}\nEOF`],
    ['a directory that a substitution names', `cd $(pwd) && apply_patch <<'EOF'\n${patch}\nEOF`],
    ['text that only mentions it', `echo apply_patch`],
    ['a heredoc that does not end', `apply_patch <<'EOF'\n${patch}\n`],
  ])('%s', (_, command) => {
    expect(patchInCommand(command)).toBeUndefined()
  })

  test('an argument vector with more words', () => {
    expect(patchInCommand(['apply_patch', patch, '--now'])).toBeUndefined()
  })
})
