import { join } from 'node:path'
import { tempDir } from './temp-dir.ts'

/** A call with which a program changes files: the `nth` call of this function of `node:fs` whose first argument contains `path`. */
export type Moment = { readonly call: string; readonly path: string; readonly nth: number }

/**
 * The environment of a program that sends itself signals: each one just before a certain call. The call then takes longer than a transaction
 * works between two pauses, so that the program receives the signal at its next pause, if there is one.
 */
export function signalsAt(...signals: readonly (readonly [NodeJS.Signals, Moment])[]): Record<string, string> {
  const text = `
    const fs = require('node:fs')
    // Trees are removed below directories that are held open, whose paths are those of their descriptors.
    const pathOf = (given) =>
      String(given).replace(/^\\/proc\\/self\\/fd\\/\\d+/, (held) => {
        try {
          return fs.readlinkSync(held)
        } catch {
          return held
        }
      })
    const left = ${JSON.stringify(signals.map(([signal, moment]) => ({ signal, ...moment })))}
    for (const name of new Set(left.map(({ call }) => call))) {
      const real = fs[name]
      fs[name] = (...given) => {
        for (const one of left) {
          if (one.call !== name || !pathOf(given[0]).includes(one.path) || --one.nth !== 0) continue
          process.kill(process.pid, one.signal)
          Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 25)
        }
        return real(...given)
      }
    }
    require('node:module').syncBuiltinESMExports()`
  return { NODE_OPTIONS: `--require ${join(tempDir({ 'signals.cjs': text }), 'signals.cjs')}` }
}

/** Moments of a transaction that adds hundreds of files. */
export const moments = {
  /** While new content is written under temporary names. */
  preparing: { call: 'openSync', path: '.apply-patch-', nth: 100 },
  /** While files get their names. */
  installing: { call: 'linkSync', path: '.apply-patch-', nth: 200 },
  /** When the first temporary name is removed: by the rollback, or when everything is in place. */
  cleaning: { call: 'unlinkSync', path: '.apply-patch-', nth: 1 },
  cleaningStill: { call: 'unlinkSync', path: '.apply-patch-', nth: 50 },
} as const satisfies Readonly<Record<string, Moment>>
