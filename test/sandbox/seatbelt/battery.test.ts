import process from 'node:process'
import { expect, test } from 'vitest'
import { renderMatrix } from '../battery/matrix.ts'
import { probes } from '../battery/probes.ts'
import { attempts, notSimulated } from './attempts.ts'
import { simulateBattery } from './simulate.ts'

test('simulated: the profile decides every probe of files, sockets and signals as the policy says', async () => {
  const executed = await simulateBattery()
  process.stdout.write(`\n${renderMatrix([{ title: 'seatbelt, simulated,', executed }])}\n`)
  expect(executed.filter(({ outcome, expected }) => outcome !== expected)).toEqual([])
  expect(executed).toHaveLength(2 * Object.keys(attempts).length)
})

test('every probe of the battery is simulated, or is listed with the reason why not', () => {
  const names = probes.map(({ name }) => name)
  const reasons = (name: string): readonly string[] =>
    notSimulated.filter(([pattern]) => pattern.test(name)).map(([, reason]) => reason)
  expect(names.filter((name) => attempts[name] === undefined && reasons(name).length === 0)).toEqual([])
  expect(Object.keys(attempts).filter((name) => !names.includes(name))).toEqual([])
})
