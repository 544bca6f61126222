import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

const soak = [
  'test/apply-patch/large-input.test.ts',
  'test/apply-patch/files/crash.test.ts',
  'test/engine/exec/killed.test.ts',
  'test/sandbox/battery/battery.test.ts',
]

// Every attack by every surface, and many places at once.
const attacks = ['test/engine/attacks/*.test.ts', 'test/sandbox/many-places.test.ts']

const usual = {
  setupFiles: ['test/support/forget-outer-git.ts'],
  include: ['test/{apply-patch,engine,policies,sandbox,package}/**/*.test.ts'],
  // Only for what would never end: a shared machine can stand still for a minute.
  testTimeout: 180_000,
  hookTimeout: 180_000,
}

export default defineConfig({
  test: {
    // Two on two processors as well: most tests wait for processes. Vitest itself would take one, and twice the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        // The shape of the house itself: import arrows, unused exports. Part of `npm run check`.
        test: { name: 'house', include: ['test/house/**/*.test.ts'], testTimeout: 60_000 },
      },
      { test: { ...usual, name: 'rooms', exclude: [...soak, ...attacks] } },
      {
        // What takes minutes: large inputs, kills at every system call, the whole escape battery.
        test: { ...usual, name: 'soak', include: soak },
      },
      { test: { ...usual, name: 'attacks', include: attacks } },
    ],
  },
})
