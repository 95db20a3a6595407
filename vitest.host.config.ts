import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { keepHostsInMemory, keepTemporaryFilesInMemory } from './test/memory-folder.ts';
import { filesOf } from './test/test-files.ts';

// As in vitest.config.ts.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.compile-cache');

// Tests compare messages with the words of the sources.
process.env.HOMEPORT_COMMAND = 'homeport';

keepTemporaryFilesInMemory();
keepHostsInMemory();

/** Tests that take longest, which begin first: whole hosts and what waits for systemd, then websites with their databases. */
const LONGEST = [
  /\/test\/host\/|\/(readiness|service-start|unpacked-package)\./,
  /\/linux\/(backups|imports|wordpress|ssh)\//,
];

/** So that short files fill the workers at the end. A clean clone knows no durations of earlier runs, and the longest file is short. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => {
      const found = LONGEST.findIndex((folder) => folder.test(moduleId));
      return found === -1 ? LONGEST.length : found;
    };
    return (await super.sort(files)).toSorted((one, other) => rank(one) - rank(other));
  }
}

/**
 * Tests of the Linux host with real daemons, as root on Debian. Four files run at a time, because each waits for many daemons. In the
 * mode "long", hosts are interrupted at every step.
 */
export default defineConfig(({ mode }) => {
  // Read by test/rounds.ts in the processes of the tests.
  if (mode === 'long') process.env.HOMEPORT_TEST_LONG = '1';
  return {
    test: {
      testTimeout: 120_000,
      hookTimeout: 180_000,
      // Most polls ask PHP for a page, which takes a tenth of a second of a processor.
      expect: { poll: { timeout: 20_000, interval: 200 } },
      include: filesOf('host', mode === 'long'),
      globalSetup: ['test/host/prepare.ts'],
      sequence: { sequencer: LongestFirst },
      maxWorkers: 4,
      // Loading the modules for each file takes a fifteenth of the time. Each file starts its own host and changes nothing global.
      isolate: false,
      setupFiles: ['test/set-up-worker.ts'],
      // As in vitest.config.ts.
      execArgv: ['--max-semi-space-size=64'],
      experimental: { viteModuleRunner: false, nodeLoader: false },
      provide: { postgresUrl: '' },
    },
  };
});
