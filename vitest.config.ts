import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    // Two on two processors as well: most tests wait for processes. Vitest itself would take one, and twice the time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        // The shape of the house itself: import arrows, unused exports. Part of `npm run check`.
        test: { name: 'house', include: ['test/house/**/*.test.ts'] },
      },
      {
        test: {
          name: 'rooms',
          setupFiles: ['test/support/forget-outer-git.ts'],
          include: ['test/{apply-patch,engine,policies,sandbox,package}/**/*.test.ts'],
          // Only for what would never end: a shared machine can stand still for a minute.
          testTimeout: 180_000,
          hookTimeout: 180_000,
        },
      },
    ],
  },
})
