import { defineConfig } from 'vitest/config';

/** The Linux host on real daemons: as root, on Debian. Three files at a time: each has a machine's worth of daemons, and waits for them. */
export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 20_000 } },
    include: ['src/**/*.host-test.ts', 'test/host/**/*.host-test.ts'],
    globalSetup: ['test/host/prepare.ts'],
    maxWorkers: 3,
    provide: { postgresUrl: '' },
  },
});
