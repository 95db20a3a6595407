import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { keepHostsInMemory, keepTemporaryFilesInMemory } from './test/memory-folder.ts';

// As in vitest.config.ts.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.compile-cache');

keepTemporaryFilesInMemory();
keepHostsInMemory();

/** Tests of whole hosts take longest, so they begin first. */
class WholeHostsFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isWhole = ({ moduleId }: TestSpecification) => moduleId.includes('/test/host/');
    const sorted = await super.sort(files);
    return [...sorted.filter(isWhole), ...sorted.filter((file) => !isWhole(file))];
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
      expect: { poll: { timeout: 20_000 } },
      include: (mode === 'long' ? ['host-test', 'long-host-test'] : ['host-test']).map(
        (suffix) => `{src,test}/**/*.${suffix}.ts`,
      ),
      globalSetup: ['test/host/prepare.ts'],
      sequence: { sequencer: WholeHostsFirst },
      maxWorkers: 4,
      // Loading the modules for each file takes a fifteenth of the time. Each file starts its own host and changes nothing global.
      isolate: false,
      // As in vitest.config.ts.
      execArgv: ['--max-semi-space-size=64'],
      experimental: { viteModuleRunner: false, nodeLoader: false },
      provide: { postgresUrl: '' },
    },
  };
});
