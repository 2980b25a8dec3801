import { defineConfig } from 'vitest/config';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  test: {
    environment: 'jsdom',
    include: ['test/**/*.test.{ts,tsx}'],
    // Two cores are what a laptop and CI have to spare.
    maxWorkers: 2,
    minWorkers: 1,
    restoreMocks: true,
    unstubGlobals: true,
    testTimeout: 10_000
  }
});
