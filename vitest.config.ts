import { availableParallelism, totalmem } from 'node:os';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { whyNoMachinePhp } from './src/hosting/runtime/machine/machine.fixture.ts';
import { hasChromium } from './test/chromium.ts';
import { keepTemporaryFilesInMemory } from './test/memory-folder.ts';
import { skippedTests } from './test/missing-programs.ts';
import { MOST_PROCESSES } from './test/servers/draw-own.ts';
import { findPostgres } from './test/servers/postgres-server.ts';
import { filesOf } from './test/test-files.ts';

// Processes that tests start load the server in half the time. Their environments pass it on.
process.env.NODE_COMPILE_CACHE ??= join(import.meta.dirname, 'node_modules/.compile-cache');

// Tests compare messages with the words of the sources.
process.env.HOMEPORT_COMMAND = 'homeport';

keepTemporaryFilesInMemory();

const postgres = findPostgres() !== undefined;
for (const line of skippedTests()) process.stderr.write(`${line}\n`);

const GIB = 1024 ** 3;

/** The tests of websites of the embedded host, which the long tests run on the PHP of the machine as well. */
const ON_MACHINE_PHP = [
  'src/hosting/embedded/{wordpress,imports}/*.{test,long-test}.ts',
  'src/hosting/embedded/{embedded-wordpress,lost-data}.{test,long-test}.ts',
  'test/operations/*.test.ts',
];

/**
 * Tests of operations, faults, documents and commands wait longest, so they begin first. Their files are short and would be last. The files
 * of a project stay together: at each change of the project, all workers end, and new ones load all modules again.
 */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const isLong = ({ moduleId }: TestSpecification) =>
      /\/test\/(operations|faults|docs|cli)\//.test(moduleId);
    const sorted = await super.sort(files);
    return [...new Set(sorted.map(({ project }) => project))].flatMap((project) => {
      const own = sorted.filter((file) => file.project === project);
      return [...own.filter(isLong), ...own.filter((file) => !isLong(file))];
    });
  }
}

/** In the mode "long", tests that repeat themselves do so more often. */
export default defineConfig(async ({ mode }) => {
  const isLong = mode === 'long';
  if (isLong) {
    // Read by test/rounds.ts and test/contract/fuzz.test.ts in the processes of the tests.
    process.env.HOMEPORT_TEST_LONG = '1';
    process.env.FUZZ_RUNS ??= '60';
  }
  const hasMachinePhp = (await whyNoMachinePhp()) === null;
  return {
    test: {
      // For what hangs. WordPress on PHP as WebAssembly needs minutes on a busy machine.
      testTimeout: isLong ? 1_800_000 : 300_000,
      sequence: { sequencer: LongestFirst },
      hookTimeout: 300_000,
      // A busy machine may need seconds for what usually takes a moment.
      expect: { poll: { timeout: 20_000, interval: 20 } },
      // Two more than the number of processors, because tests often wait for disk, network and time limits. Each takes up to 2 GiB with its
      // PHP as WebAssembly.
      maxWorkers: Math.min(
        availableParallelism() + 2,
        Math.max(1, Math.floor(totalmem() / (2 * GIB))),
        MOST_PROCESSES,
      ),
      // Sharing loaded modules halves the time. Each file starts its own servers and databases, and changes nothing global.
      isolate: false,
      setupFiles: ['test/set-up-worker.ts'],
      // Each server of a test leaves young objects by the million: a fifth less processor time than with the default.
      execArgv: ['--max-semi-space-size=64'],
      // Node runs the files as they are, as it runs the program. Vite's module runner needs twice the processor time.
      experimental: { viteModuleRunner: false, nodeLoader: false },
      projects: [
        {
          extends: true,
          test: {
            name: 'sqlite',
            include: filesOf('sqlite', isLong),
            provide: { postgresUrl: '', hasMachinePhp: hasMachinePhp && !isLong },
            globalSetup: ['test/prepared-folder.ts'],
          },
        },
        ...(isLong && hasMachinePhp
          ? [
              {
                extends: true as const,
                test: {
                  name: 'machine-php',
                  include: ON_MACHINE_PHP,
                  provide: { postgresUrl: '', embeddedPhp: 'machine' as const },
                  globalSetup: ['test/prepared-folder.ts'],
                },
              },
            ]
          : []),
        ...(postgres
          ? [
              {
                extends: true as const,
                test: {
                  name: 'postgres',
                  include: filesOf('postgres', isLong),
                  globalSetup: ['test/global-setup.ts', 'test/prepared-folder.ts'],
                },
              },
            ]
          : []),
        ...(hasChromium
          ? [
              {
                extends: true as const,
                test: {
                  name: 'browser',
                  include: filesOf('browser', isLong),
                  provide: { postgresUrl: '' },
                  globalSetup: ['test/browser/built-portal.ts', 'test/prepared-folder.ts'],
                },
              },
            ]
          : []),
      ],
    },
  };
});
