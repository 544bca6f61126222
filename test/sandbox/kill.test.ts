import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'vitest'
import type { SandboxPolicyInput } from '../../sandbox/index.ts'
import { describeInBoth } from './both-backends.ts'
import { image } from './docker-image.ts'
import { testUnless, whyNoControlGroups } from '../support/needs.ts'
import { eventually } from './helpers.ts'
import { makeStage, type Stage } from './kill-tools.ts'

const mebibyte = 1024 ** 2
const gibibyte = 1024 ** 3

/** The limit for an engine's memory: more than an engine needs, but far less than the data that passes through it. */
const mostEngineKib = 400 * 1024

/** A script that leaves an orphan in its own session, starts a second session that ignores TERM, and ignores TERM itself. */
const stubborn = `(setsid sleep 600 &); setsid sh -c 'trap "" TERM HUP; sleep 600' & trap "" TERM; touch up; sleep 600; sleep 600`

describeInBoth('in %s, nothing is left and the machine answers', ({ backend, test, readableRoots }) => {
  const stageFor = (): Promise<Stage> => makeStage({ readableRoots }, { backend, image })

  /** Runs a script to completion, checks that nothing is left, and returns what the engine reported. */
  async function survive(script: string, limits: NonNullable<SandboxPolicyInput['limits']>, slow = false) {
    const stage = await stageFor()
    const policy = { mode: 'workspace-write' as const, workspace: stage.workspace, readableRoots, limits }
    const engine = await stage.start({ script, policy, slow })
    const driven = await engine.driven
    expect(stage.leftovers()).toEqual([])
    expect(spawnSync('true').status).toBe(0)
    if (driven === undefined) throw new Error('the engine broke')
    expect(driven.maxRssKib).toBeLessThan(mostEngineKib)
    return { ...driven, stage, rules: driven.result.denials.map(({ rule }) => rule) }
  }

  test.each(['SIGKILL', 'SIGTERM'] as const)('after %s of the engine', async (signal) => {
    const stage = await stageFor()
    const engine = await stage.start({ script: stubborn })
    await eventually(() => existsSync(join(stage.workspace, 'up')))
    engine.child.kill(signal)
    await engine.driven
    // The next start removes leftovers that no process cleans up.
    await eventually(() => stage.leftovers().every((left) => /^(file|control group) /.test(left)))
    await (
      await stage.start({ script: 'true' })
    ).driven
    expect(stage.leftovers()).toEqual([])
  })

  test('after a time-out', async () => {
    const { result } = await survive(stubborn, { wallTimeMs: 1500 })
    expect(result).toMatchObject({ status: 'timed-out', denials: [{ rule: 'limits.wallTimeMs' }] })
  })

  test('after a gigabyte of output, all of which arrived', async () => {
    const { result, bytes } = await survive(`head -c ${gibibyte} /dev/zero`, {})
    expect(result).toMatchObject({ status: 'exited', code: 0, denials: [] })
    expect(bytes).toBe(gibibyte)
  })

  test('after a flood of output up to the limit, for a slow reader', async () => {
    const { bytes, rules } = await survive('cat /dev/zero', { outputBytes: 200 * mebibyte }, true)
    expect(bytes).toBe(200 * mebibyte)
    expect(rules).toContain('limits.outputBytes')
  })

  test('after a fork bomb', async () => {
    const { rules } = await survive('bomb() { bomb | bomb & }; bomb; sleep 600', { wallTimeMs: 3000 })
    expect(rules).toContain('limits.wallTimeMs')
    expect(rules).toContain('limits.processes')
  })

  // In docker, the daemon creates the control group for any user.
  const whole = testUnless(backend === 'bubblewrap' ? whyNoControlGroups() : undefined, test)

  whole('after a memory bomb of several processes, none of which is over the limit by itself', async () => {
    const bomb = 'for i in 1 2 3 4; do head -c 400M /dev/zero | tail -c 390M > /dev/null & done; wait; exit 1'
    const { rules } = await survive(bomb, { memoryBytes: 512 * mebibyte, wallTimeMs: 60_000 })
    expect(rules).toContain('limits.memoryBytes')
  })

  test('after filling the disk', async () => {
    const fill =
      'for place in /tmp . /dev/shm; do head -c 1G /dev/zero > $place/fill; stat -c %s $place/fill >&2; done; ls /tmp'
    const { stage } = await survive(`${fill}; exit 1`, { fileSizeBytes: 300 * mebibyte })
    expect(statSync(join(stage.workspace, 'fill')).size).toBe(300 * mebibyte)
  })

  test('after filling the disk with files below the size limit, and private files are removed with the run', async () => {
    const fill =
      'i=0; while :; do for place in /tmp .; do head -c 20M /dev/zero > $place/fill$i; done; i=$((i+1)); done'
    const { rules, result } = await survive(fill, { fileSizeBytes: 30 * mebibyte, diskBytes: 200 * mebibyte })
    expect(result).toMatchObject({ status: 'signaled', signal: 'SIGKILL' })
    expect(rules).toContain('limits.diskBytes')
  })
})
