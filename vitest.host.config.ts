import { defineConfig } from 'vitest/config';

/** The Linux host on real daemons: as root, on Debian. One file after another, for they share the machine. */
export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 180_000,
    include: ['src/**/*.host-test.ts', 'test/host/**/*.host-test.ts'],
    fileParallelism: false,
    provide: { postgresUrl: '' },
  },
});
