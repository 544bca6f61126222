import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { call, say, type Reply } from '../../support/mock-model.ts'
import { needsBubblewrap, testUnlessOnCi } from '../../support/needs.ts'
import { tempDir } from '../../support/temp-dir.ts'
import { repository } from '../../support/workspace.ts'
import { claude, resultIn, type Ended, type Message } from './door.ts'
import { ask, drain, whyNoSdk } from './sdk.ts'

const printing = ['-p', '--output-format', 'stream-json', '--verbose', '--dangerously-skip-permissions']

type Place = { readonly cwd: string; readonly home: string }
type Turn = (prompt: string, replies: readonly Reply[], ...args: readonly string[]) => Promise<Ended>

const place = (): Place => ({ cwd: repository(), home: tempDir() })
const turnsIn =
  (at: Place): Turn =>
  (prompt, replies, ...args) =>
    claude([...printing, ...args, '--', prompt], { replies, ...at })
const saidIn = (messages: readonly Message[]): readonly Message[] => messages.filter(({ type }) => type === 'assistant')
const sessionIn = (messages: readonly Message[]): string => String(resultIn(messages)['session_id'])
const sentBy = ({ requests }: Ended): string => JSON.stringify(requests.at(-1)?.body)

/** A session of three turns with the same answer: its id, and the ids of the answers. */
async function threeTurns(turn: Turn): Promise<{ readonly id: string; readonly uuids: readonly string[] }> {
  const first = await turn('prompt-1', [[say('same')]])
  const id = sessionIn(first.messages)
  const others = [
    await turn('prompt-2', [[say('same')]], '--resume', id),
    await turn('prompt-3', [[say('same')]], '--resume', id),
  ]
  return {
    id,
    uuids: [first, ...others].flatMap(({ messages }) => saidIn(messages).map((each) => String(each['uuid']))),
  }
}

describe.skipIf(needsBubblewrap())('--resume-session-at', () => {
  test('leaves out what came after a message, also when the session is resumed again', async () => {
    const turn = turnsIn(place())
    const { id, uuids } = await threeTurns(turn)
    expect(new Set(uuids).size).toBe(3)
    const cut = await turn('prompt-4', [[say('same')]], '--resume', id, '--resume-session-at', String(uuids[1]))
    expect(sessionIn(cut.messages)).toBe(id)
    expect(sentBy(cut)).toMatch(/prompt-1.*prompt-2.*prompt-4/)
    expect(sentBy(cut)).not.toContain('prompt-3')
    const later = await turn('prompt-5', [[say('ok')]], '--resume', id)
    expect(sentBy(later)).toMatch(/prompt-1.*prompt-2.*prompt-4.*prompt-5/)
    expect(sentBy(later)).not.toContain('prompt-3')
    // What was said after the cut can be resumed at as well, and cut again before that.
    const [last] = saidIn(cut.messages)
    const again = await turn('prompt-6', [[say('ok')]], '--resume', id, `--resume-session-at=${String(last?.['uuid'])}`)
    expect(sentBy(again)).toMatch(/prompt-2.*prompt-4.*prompt-6/)
    expect(sentBy(again)).not.toMatch(/prompt-[35]/)
    const first = await turn('prompt-7', [[say('ok')]], '--resume', id, '--resume-session-at', String(uuids[0]))
    expect(sentBy(first)).toMatch(/prompt-1.*prompt-7/)
    expect(sentBy(first)).not.toMatch(/prompt-[2-6]/)
  })

  testUnlessOnCi(whyNoSdk())('resumeSessionAt with forkSession leaves the session as it is', async () => {
    const at = place()
    const turn = turnsIn(at)
    const { id, uuids } = await threeTurns(turn)
    const options = { ...at, resume: id, forkSession: true }
    const fork = await ask('prompt-4', [[say('forked')]], { ...options, resumeSessionAt: uuids[0] })
    const messages = await drain(fork)
    expect(sessionIn(messages)).not.toBe(id)
    expect(JSON.stringify(fork.mock.requests[0]?.body)).toMatch(/prompt-1.*prompt-4/)
    expect(JSON.stringify(fork.mock.requests[0]?.body)).not.toMatch(/prompt-[23]/)
    // A message keeps its id in the fork.
    const inFork = { ...options, resume: sessionIn(messages), resumeSessionAt: uuids[0] }
    const second = await ask('prompt-5', [[say('ok')]], inFork)
    await drain(second)
    expect(JSON.stringify(second.mock.requests[0]?.body)).not.toContain('forked')
    expect(sentBy(await turn('prompt-6', [[say('ok')]], '--resume', id))).toMatch(
      /prompt-1.*prompt-2.*prompt-3.*prompt-6/,
    )
  })

  test('at a call keeps its result, at the text before it leaves the call out', async () => {
    const turn = turnsIn(place())
    const replies: readonly Reply[] = [[say('I look.'), call('exec_command', { cmd: 'echo looked' })], [say('I saw.')]]
    const begun = await turn('go', replies)
    const id = sessionIn(begun.messages)
    const [text, made] = saidIn(begun.messages).map((each) => String(each['uuid']))
    const fork = ['--resume', id, '--fork-session', '--resume-session-at']
    const afterCall = sentBy(await turn('and', [[say('ok')]], ...fork, String(made)))
    expect(afterCall).toContain('looked')
    expect(afterCall).not.toContain('I saw.')
    const afterText = sentBy(await turn('and', [[say('ok')]], ...fork, String(text)))
    expect(afterText).toContain('I look.')
    expect(afterText).not.toMatch(/looked|I saw/)
  })

  test('a message that the session doesn’t have is an error that names the session', async () => {
    const turn = turnsIn(place())
    const { id } = await threeTurns(turn)
    const other = await turn('go', [[say('same')]])
    const [foreign] = saidIn(other.messages)
    for (const uuid of [randomUUID(), String(foreign?.['uuid']), '../x']) {
      const ended = await turn('go', [[say('no')]], '--resume', id, `--resume-session-at=${uuid}`)
      expect([ended.code, ended.requests, resultIn(ended.messages)['errors']]).toEqual([
        1,
        [],
        [expect.stringContaining(`The session ${id} has no message`) as string],
      ])
    }
    const { code, messages, requests } = await turn('go', [[say('no')]], '--resume-session-at', randomUUID())
    expect([code, requests]).toEqual([1, []])
    expect(String(resultIn(messages)['errors'])).toContain('--resume-session-at is for an earlier session')
  })
})
