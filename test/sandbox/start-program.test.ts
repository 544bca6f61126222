import { expect, test } from 'vitest'
import { keyOfForm, startForm, usualStarts } from '../../sandbox/bubblewrap/start-form.ts'
import { formOf } from '../../sandbox/machine-code/make-program.ts'

test.each(usualStarts)('a first program for %s that the build encoded is completed like a new one: %j', (...start) => {
  const form = startForm(...start)
  const kept = formOf(Buffer.from(Buffer.from(form.fixed).toString('base64'), 'base64'))
  const appended = [Buffer.from('0123456789abcdef'), Buffer.from('x'.repeat(4096))]
  expect(kept.address).toBe(form.address)
  expect(kept.finish(...appended)).toEqual(form.finish(...appended))
})

test('first programs that differ in anything have keys that differ', () => {
  const [usual] = usualStarts
  if (usual === undefined) throw new Error('no usual one')
  const [architecture, form] = usual
  const others = [
    form,
    { ...form, report: 7 },
    { ...form, kept: [7] },
    { ...form, filter: { ...form.filter, unixSockets: true } },
    { ...form, filter: { sockets: 'internet', unixSockets: false } as const },
  ]
  const keys = [...others.map((each) => keyOfForm(architecture, each)), keyOfForm('arm64', form)]
  expect(new Set(keys).size).toBe(keys.length)
})
