import { expect } from 'vitest'
import { openFor, run, temporaryDirectory, testInBubblewrap } from './helpers.ts'

testInBubblewrap('no file shows the host’s network cards or serial numbers', async () => {
  const sandbox = await openFor({ mode: 'read-only', workspace: await temporaryDirectory() })
  const { stdout } = await run(
    sandbox,
    'ls /sys; cat /sys/class/net/*/address /sys/devices/virtual/dmi/id/* 2>/dev/null',
  )
  expect(stdout.split(/\s+/).filter(Boolean).toSorted()).toEqual(['devices', 'fs', 'kernel'])
})

testInBubblewrap('information about processors and limits can be read', async () => {
  const sandbox = await openFor({ mode: 'read-only', workspace: await temporaryDirectory() })
  const { stdout } = await run(
    sandbox,
    'cat /sys/devices/system/cpu/online; ls -d /sys/fs/cgroup; touch /sys/x /sys/kernel/x && echo GOT',
  )
  expect(stdout).toMatch(/^[\d,-]+\n\/sys\/fs\/cgroup\n$/)
})

testInBubblewrap('a command without network has no interface but its own loopback', async () => {
  const sandbox = await openFor({ mode: 'read-only', workspace: await temporaryDirectory() })
  const { stdout } = await run(sandbox, 'cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d " "')
  expect(stdout).toBe('lo\n')
})
