import process from 'node:process'
import { hostFileSystem } from '../../../sandbox/file-system-view.ts'
import { createPlaceFinder } from '../../../sandbox/git/guarded-places.ts'
import { parsePolicy } from '../../../sandbox/index.ts'
import { protectedBelow, writableRoots } from '../../../sandbox/roots.ts'
import { seatbeltProfile } from '../../../sandbox/seatbelt/profile.ts'
import { makePlaces, removeShared } from '../battery/places.ts'
import { probes } from '../battery/probes.ts'
import type { Executed } from '../battery/run-battery.ts'
import { attempts } from './attempts.ts'
import { evaluator } from './evaluator.ts'

/**
 * Simulates the escape battery with the profile's text. Returns the evaluator's decision on each probe that has an attempt, in the modes
 * `workspace-write` and `read-only`. No probe is run, and macOS is not needed.
 */
export async function simulateBattery(): Promise<readonly Executed[]> {
  const home = process.env['HOME']
  const places = await makePlaces()
  process.env['HOME'] = places.home
  try {
    return (['workspace-write', 'read-only'] as const).flatMap((mode) => {
      const policy = parsePolicy({ mode, workspace: places.workspace })
      const roots = writableRoots(policy, hostFileSystem)
      const guarded = createPlaceFinder(roots, protectedBelow(roots, policy)).find()
      const privateTemp = '/tmp/portcullis-run/tmp'
      const machine = { host: hostFileSystem, privateTemp }
      const isGranted = evaluator(seatbeltProfile(policy, guarded, { kind: 'none' }, machine))
      return probes.flatMap(({ name, expect }): readonly Executed[] => {
        const attempt = attempts[name]
        if (attempt === undefined) return []
        const outcome = attempt(places, privateTemp).every(isGranted) ? 'allowed' : 'blocked'
        return [{ probe: name, mode, expected: expect[mode], outcome }]
      })
    })
  } finally {
    if (home === undefined) delete process.env['HOME']
    else process.env['HOME'] = home
    await places.close()
    await removeShared()
  }
}
