import { defineConfig } from 'vitest/config';
import everywhere from './vitest.config.ts';

// Read by test/rounds.ts in the processes of the tests.
process.env.HOMEPORT_TEST_LONG = '1';
process.env.FUZZ_RUNS ??= '10';

/** The tests that `npm test` shortens: more kills, more requests, and what waits for the longest deadlines. */
export default defineConfig({
  ...everywhere,
  test: { ...everywhere.test, testTimeout: 1_800_000 },
});
