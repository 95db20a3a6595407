import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { hasChromium } from './test/chromium.ts';
import { skippedTests } from './test/missing-programs.ts';
import { findPostgres } from './test/servers/postgres-server.ts';

const postgres = findPostgres() !== undefined;
for (const line of skippedTests()) process.stderr.write(`${line}\n`);

const everywhere = ['src/**/*.test.ts', 'test/**/*.test.ts', 'web/**/*.test.ts'];
/** What never opens a database has nothing to show twice; nor has what takes long and is about something else. */
const withoutDatabase = [
  'web/**',
  'src/hosting/**',
  'src/network/**',
  'test/bench/**',
  'test/servers/**',
  'src/secrets/**',
  'src/config/config.test.ts',
  'src/cli/{,commands/,platform/,terminal/}*.test.ts',
  'src/cli/doctor/{certificate,certificate-authority,ports,resolvers,surroundings}.test.ts',
  'src/api/{api-certificate,client-address,display-name,errors,json-body,paging,portal-pages,request-target,secure-listener,slow-start,validation}.test.ts',
  'src/**/public-key.test.ts',
  'src/lib/**',
  'src/app/shutdown.test.ts',
  'test/faults/silent-clients.test.ts',
  'src/database/sqlite-changes.test.ts',
  'src/access/**',
  'src/jobs/{backoff,failure,repeat}.test.ts',
  'src/features/queries-in-stores.test.ts',
  'src/features/**/{connection,dns-sentence,edge-addresses,guesses,lifetime,nightly-time,present,reach,recovery-codes,renewal-time,result-sentence,retry-scale,totp,weakness}.test.ts',
  // What these show is the process's or the log's; their queries are tested with the services.
  'test/cli/{commands,hosts,launcher,loading,lost-output,serve,unprivileged-start,unusable-database,user-changes}.test.ts',
  'test/faults/{secrets-in-logs,sqlite-clients}.test.ts',
  'src/**/domain-name.test.ts',
];

/** Files whose every test needs a PostgreSQL server. */
const onlyPostgres = [
  'src/features/domains/certificates/deleted-meanwhile.test.ts',
  'test/faults/shutdown.test.ts',
];

export default defineConfig({
  test: {
    testTimeout: 120_000,
    hookTimeout: 120_000,
    // What is waited for is there in a moment, and on a machine with other work in a few: a second is no fault.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    // More than there are processors: most tests wait for disk, network and child processes.
    maxWorkers: Math.ceil(availableParallelism() * 1.5),
    // Files share what they have loaded, which halves the time: each starts servers and databases of its own, and changes nothing else.
    isolate: false,
    projects: [
      {
        extends: true,
        test: { name: 'sqlite', include: everywhere, exclude: onlyPostgres, provide: { postgresUrl: '' } },
      },
      ...(postgres
        ? [
            {
              extends: true as const,
              test: {
                name: 'postgres',
                include: everywhere,
                exclude: withoutDatabase,
                globalSetup: ['test/global-setup.ts'],
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
                include: ['test/browser/**/*.browser-test.ts'],
                provide: { postgresUrl: '' },
                globalSetup: ['test/browser/built-portal.ts'],
              },
            },
          ]
        : []),
    ],
  },
});
