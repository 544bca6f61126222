import { expect, test } from 'vitest'
import { backendNames, doctor, renderDoctor, type DoctorReport } from '../../sandbox/index.ts'
import { testInBubblewrap } from './helpers.ts'

testInBubblewrap('the doctor names the backend that commands will get, after trying it', async () => {
  const report = await doctor()
  expect(report.chosen).toBe('bubblewrap')
  expect(report.backends).toContainEqual({
    ...{ backend: 'bubblewrap', usable: true, confines: true },
    fence: expect.stringMatching(/^(?:none|landlock \d+)$/),
  })
  // The user vouches for an external sandbox, so there is nothing to try.
  const tried = backendNames().filter((name) => name !== 'external')
  expect(report.backends.map(({ backend }) => backend).toSorted()).toEqual(tried.toSorted())
})

test('a report says for each backend whether it works, and if not, why and what to do', () => {
  const report: DoctorReport = {
    platform: 'linux x64',
    preferred: 'bubblewrap',
    chosen: undefined,
    backends: [
      { backend: 'bubblewrap', usable: false, reason: 'the program bwrap is not installed', remedy: 'Install it.' },
      { backend: 'docker', usable: true, confines: true, fence: 'landlock 6' },
      { backend: 'seatbelt', usable: true, confines: true },
      { backend: 'unconfined', usable: true, confines: false },
    ],
    limits: { by: 'process limits', unenforced: ['memory is limited for each process'] },
    notes: ['this is inside a container'],
  }
  expect(renderDoctor(report)).toBe(
    [
      "linux x64: the default sandbox can't be used",
      '  no  bubblewrap: the program bwrap is not installed',
      '      Install it.',
      '  ok  docker (second fence: landlock 6)',
      '  ok  seatbelt',
      '  ok  unconfined (confines nothing; only for danger-full-access mode)',
      'limits: by process limits',
      '  memory is limited for each process',
      'note: this is inside a container',
      '',
    ].join('\n'),
  )
})
