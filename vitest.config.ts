import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
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
