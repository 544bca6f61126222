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
          include: ['test/{apply-patch,engine,policies,sandbox,package}/**/*.test.ts'],
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
    ],
  },
})
